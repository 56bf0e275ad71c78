// How fast the kernels for quantized weights read them, on one thread: a matrix of 4096 x 4096 times a vector, with weights that lie in memory and not in caches, beside
// what one thread reads from memory at best. Run with `npm run bench:kernels`; `--format F` takes one format.
import { measuredSize, NativeKernels } from "../../src/backends/native/kernel-speeds/kernel-facts.ts";
import { kernelRegistry } from "../../src/kernels/registry.ts";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { formatTable } from "../measuring/table.mjs";

const { format, json = false } = readOptions({
  format: { type: "string" },
  json: { type: "boolean" },
  quick: { type: "boolean" },
});

const load = watchLoad();
const facts = await NativeKernels.open();
const memory = [facts.measureMemory()];
const rows = [];
for (const kernel of kernelRegistry) {
  const { id, formats, implementation } = kernel;
  if (formats === "any" || !["machine", "wasm", "scalar"].includes(implementation.kind)) continue;
  const [type] = formats;
  if (format !== undefined && type.toLowerCase() !== format.toLowerCase()) continue;
  const speed = facts.measure(kernel);
  if (speed === undefined) continue; // not on this machine
  rows.push({ id, type, speed });
}
memory.push(facts.measureMemory());
const bandwidth = Math.max(...memory);
const result = { machine: describeMachine(), load: load(), memoryGigabytesPerSecond: bandwidth, rows };

if (json) console.log(JSON.stringify(result, null, 2));
else {
  console.log(`machine  ${result.machine}\nload     ${describeLoad(result.load)}`);
  console.log(`memory   ${bandwidth.toFixed(1)} GB/s read by one thread at best\n`);
  const table = rows.map(({ id, type, speed }) => [
    id,
    type,
    speed.milliseconds.toFixed(2),
    speed.gigabytesPerSecond.toFixed(1),
    `${((100 * speed.gigabytesPerSecond) / bandwidth).toFixed(0)} %`,
  ]);
  const size = `${measuredSize} x ${measuredSize}`;
  console.log(formatTable([`kernel, ${size} x 1`, "format", "ms", "GB/s", "of memory"], table));
}
process.exit(0); // libraries that FFI has opened are not given back
