/** The types of `inferyard/client`, made from the server's own OpenAPI document. */
import openapiTypes, { type OpenAPI3, astToString } from "openapi-typescript";
import { createRuntime } from "../../src/api/create-runtime.ts";
import { createHandler } from "../../src/server/handler.ts";

/** Where they stand. */
export const clientTypesFile: URL = new URL("../../src/client/generated-openapi.ts", import.meta.url);

const heading =
  "/** What the server takes and gives, from GET /openapi.json. Written by `npm run client`; a test holds the two together. */";

export async function clientTypes(): Promise<string> {
  const runtime = await createRuntime();
  try {
    const response = await createHandler(runtime)(new Request("http://localhost/openapi.json"));
    return `${heading}\n${astToString(await openapiTypes((await response.json()) as OpenAPI3))}`;
  } finally {
    await runtime.dispose();
  }
}
