// Runs ONNX conformance cases: `npm run conformance -- [--data DIR] [--json] [--filter TEXT] [--failures]`.
import { parseArgs } from "node:util";
import { findCases } from "./conformance/cases.ts";
import { judge } from "./conformance/judge.ts";

const { values: options } = parseArgs({
  options: {
    data: { type: "string", default: new URL("../../shared/data/onnx-conformance", import.meta.url).pathname },
    filter: { type: "string", default: "" },
    failures: { type: "boolean", default: false },
  },
});

const counts = { passed: 0, failed: 0, refused: 0 };
for (const each of findCases(options.data).filter(({ name }) => name.includes(options.filter))) {
  const { verdict, reason } = judge(each);
  counts[verdict] += 1;
  if (options.failures && verdict !== "passed") process.stdout.write(`${verdict} ${each.name}: ${reason}\n`);
}
process.stdout.write(`${JSON.stringify(counts)}\n`);
