/** Writes schemas/*.json from the code: `npm run schemas`. A test holds the two together. */
import { writeFileSync } from "node:fs";
import { inferyardJsonSchema } from "../src/models/inferyard-schema.ts";
import { decisionJsonSchema } from "../src/runtime/decision-schema.ts";
import { settingsJsonSchema } from "../src/settings/schema.ts";

const schemas = { inferyard: inferyardJsonSchema(), decision: decisionJsonSchema(), settings: settingsJsonSchema() };

for (const [name, schema] of Object.entries(schemas)) {
  writeFileSync(new URL(`../schemas/${name}.json`, import.meta.url), `${JSON.stringify(schema, null, 2)}\n`);
}
