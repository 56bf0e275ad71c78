/** The OpenAPI document of the server, as the sources describe it. */
import type { OpenAPI3 } from "openapi-typescript";
import { createRuntime } from "../../src/api/create-runtime.ts";
import { createHandler } from "../../src/server/handler.ts";

/** What GET /openapi.json answers. */
export async function openApiDocument(): Promise<OpenAPI3> {
  const runtime = await createRuntime();
  try {
    const response = await createHandler(runtime)(new Request("http://localhost/openapi.json"));
    return (await response.json()) as OpenAPI3;
  } finally {
    await runtime.dispose();
  }
}
