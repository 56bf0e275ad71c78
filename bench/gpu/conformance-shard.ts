/**
 * Every N-th conformance case of ONNX on a device of a PJRT plugin: the arguments are the plugin, the folder of the cases, the index of the shard and the
 * number of shards. Prints one line of JSON.
 */
import { findCases } from "../../scripts/conformance/cases.ts";
import { judge } from "../../scripts/conformance/judge.ts";
import { openerOnXla } from "../../scripts/conformance/xla.ts";

const [, , plugin = "", folder = "", index = "0", count = "1"] = process.argv;
/** As the case itself: the middle of the transform is 0, and the case holds what float32 leaves of it. */
const known = new Set(["node/test_dft_inverse", "node/test_dft_inverse_opset19"]);

const open = await openerOnXla(plugin, { preallocate: { flag: false }, visible_devices: { integers: [0] } });
const outcome = { passed: 0, refused: 0, wrong: [] as string[] };
for (const each of findCases(folder).filter((_case, at) => at % Number(count) === Number(index))) {
  const { verdict, reason } = await judge(each, open);
  if (verdict !== "failed") outcome[verdict] += 1;
  else if (!known.has(each.name)) outcome.wrong.push(`${each.name}: ${reason?.slice(0, 200)}`);
}
process.stdout.write(`${JSON.stringify(outcome)}\n`, () => process.exit());
