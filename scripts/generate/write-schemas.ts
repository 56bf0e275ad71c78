/** Writes schemas/*.json, the tables of settings, docs/reference/operators.md, kernels.md, program-backends.md and backends/ from the code: `npm run schemas`. Tests hold them together. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { inferyardJsonSchema } from "../../src/models/inferyard-json/schema.ts";
import { receiptJsonSchema } from "../../src/receipts/receipt-schema.ts";
import { decisionJsonSchema } from "../../src/runtime/decision/decision-schema.ts";
import { settingsJsonSchema } from "../../src/settings/schema.ts";
import { optionTypes } from "./types/option-types.ts";
import { schemaTypes } from "./types/schema-types.ts";
import { backendPages, backendsFolder } from "./pages/backend-pages.ts";
import { kernelsPage, kernelsText } from "./pages/kernels-page.ts";
import { operatorsPage, operatorsText } from "./pages/operators-page.ts";
import { programBackendsPage, programBackendsText } from "./pages/program-backends-page.ts";
import { settingsPage, withTables } from "./settings-tables.ts";

const schemas = {
  inferyard: inferyardJsonSchema(),
  decision: decisionJsonSchema(),
  settings: settingsJsonSchema(),
  receipt: receiptJsonSchema(),
};

for (const [name, schema] of Object.entries(schemas)) {
  writeFileSync(new URL(`../../schemas/${name}.json`, import.meta.url), `${JSON.stringify(schema, null, 2)}\n`);
}

writeFileSync(settingsPage, await withTables(readFileSync(settingsPage, "utf8")));
writeFileSync(operatorsPage, operatorsText());
writeFileSync(kernelsPage, kernelsText());
writeFileSync(programBackendsPage, programBackendsText());
for (const [file, text] of [...optionTypes(), ...schemaTypes()]) writeFileSync(file, text);
mkdirSync(backendsFolder, { recursive: true });
for (const [name, text] of backendPages()) writeFileSync(new URL(name, backendsFolder), text);
