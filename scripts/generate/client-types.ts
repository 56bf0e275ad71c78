/** The types of `inferyard/client`, made from the server's OpenAPI document. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { OpenAPI3 } from "openapi-typescript";

/** A line that identifies what the types are made from: the document, this module, and the versions of all packages. */
export function sourceLine(document: OpenAPI3): string {
  const digest = createHash("sha256").update(JSON.stringify(document));
  for (const path of [import.meta.url, "../../package-lock.json"]) digest.update(readFileSync(new URL(path, import.meta.url)));
  return `// made from ${digest.digest("hex")}`;
}

/** The TypeScript module of the types. */
export async function clientTypes(document: OpenAPI3): Promise<string> {
  // Imported here, since it loads the TypeScript compiler, and unchanged documents do not need it.
  const { default: openapiTypes, astToString } = await import("openapi-typescript");
  const types = astToString(await openapiTypes(structuredClone(document)));
  const documented = types
    .replace("export interface paths", "/** Routes of the server: what each takes and answers. */\n$&")
    .replace(
      "export interface components",
      "/** Named parts of the server's OpenAPI document: schemas, responses, parameters. */\n$&",
    );
  return `/** What the server takes and gives, from GET /openapi.json. Written by \`npm run client\`. */\n${sourceLine(document)}\n${documented}`;
}
