/**
 * Runs ONNX conformance cases on our engine and on ONNX Runtime, side by side:
 *   npm run conformance -- [--data DIR] [--target native|interpreter|onnx|wasm|xla ...] [--filter TEXT] [--failures] [--json]
 * Without a target: native, onnx and wasm. xla needs PJRT_PLUGIN_LIBRARY_PATH, the path of a PJRT plugin. DIR holds folders with a model.onnx and test_data_set_* beside it, at any depth. docs/reference/conformance.md says what is compared.
 */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { findCases } from "./cases.ts";
import type { Outcome } from "./judge.ts";
import { operatorsOf } from "./operators.ts";
import { jsonOf, tableOf } from "./report.ts";
import { judgeAll, type Target, targets } from "./targets.ts";

const { values: options } = parseArgs({
  options: {
    data: { type: "string", default: fileURLToPath(new URL("../../../shared/data/onnx-conformance", import.meta.url)) },
    target: { type: "string", multiple: true, default: targets.filter((name) => name !== "interpreter" && name !== "xla") },
    filter: { type: "string", default: "" },
    failures: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});

function stop(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}

const wanted = [...new Set(options.target)].map((name) => {
  const found = targets.find((target) => target === name);
  return found ?? stop(`there is no target "${name}": give one of ${targets.join(", ")}`);
});
if (!existsSync(options.data)) stop(`there is no folder ${options.data}`);
const cases = findCases(options.data).filter(({ name }) => name.includes(options.filter));
if (cases.length === 0) stop(`${options.data} holds no case${options.filter === "" ? "" : ` named like "${options.filter}"`}`);

const results = new Map<Target, readonly Outcome[]>();
for (const target of wanted) {
  try {
    results.set(target, await judgeAll(target, cases));
  } catch (error) {
    stop(error instanceof Error ? error.message : String(error));
  }
}

if (options.json) process.stdout.write(jsonOf(cases, results));
else {
  if (options.failures) {
    for (const [target, outcomes] of results) {
      for (const [index, { verdict, reason }] of outcomes.entries()) {
        if (verdict !== "passed") process.stdout.write(`${target} ${verdict} ${cases[index]!.name}: ${reason}\n`);
      }
    }
  }
  process.stdout.write(tableOf(cases, results, operatorsOf(cases)));
}
