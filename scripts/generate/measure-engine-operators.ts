/**
 * Measures what generated kernels compute, and writes scripts/generate/engine-operators.json, of which docs/reference/operators.md is made:
 * npm run measure:operators
 */
import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { measureOperators } from "../conformance/measure-operators.ts";
import { operatorTypesFile } from "./pages/operators-page.ts";

const data = fileURLToPath(new URL("../../../shared/data/onnx-conformance", import.meta.url));
if (!existsSync(data)) throw new Error(`there is no folder ${data}`);
writeFileSync(operatorTypesFile, `${JSON.stringify(await measureOperators(data), null, 2)}\n`);
