// Starts of the program in fresh processes, one command after the other, beside Node.js alone: elapsed and processor time.
// node bench/runtime/cold.mjs [--rounds 15]
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import "../measuring/built-package.mjs";
import { childrenTime, describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { summary } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";

const { rounds } = readOptions({ rounds: { type: "string", default: "15" } });
const program = fileURLToPath(new URL("../../bin/inferyard.js", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));
const starts = {
  "node -e 0": ["-e", "0"],
  'import("inferyard")': ["--input-type=module", "-e", 'await import("inferyard")'],
  "inferyard --help": [program, "--help"],
  'inferyard embed "hello"': [program, "embed", "hello"],
  "inferyard doctor": [program, "doctor"],
};

const measured = Object.keys(starts).map((name) => ({ name, elapsed: [], processor: [] }));
const load = watchLoad();
for (let round = -1; round < Number(rounds); round++) {
  for (const { name, elapsed, processor } of measured) {
    const [before, started] = [childrenTime(), performance.now()];
    const { status, stderr } = spawnSync(process.execPath, starts[name], { cwd: root });
    const milliseconds = performance.now() - started;
    if (status !== 0) throw new Error(`${name} ended with ${status}: ${String(stderr)}`);
    if (round < 0) continue; // the first round fills the caches of the file system and of Node.js
    elapsed.push(milliseconds);
    if (before !== undefined) processor.push(childrenTime() - before);
  }
}

const alone = summary(measured[0].elapsed);
const rows = measured.map(({ name, elapsed, processor }) => {
  const { median, min } = summary(elapsed);
  const used = processor.length === 0 ? undefined : summary(processor);
  return [name, median.toFixed(0), min.toFixed(0), (min / alone.min).toFixed(1), used?.median.toFixed(0), used?.min.toFixed(0)];
});
console.log(describeMachine());
console.log(`processors used by others: ${describeLoad(load())}; ${rounds} rounds; milliseconds`);
console.log(formatTable(["", "median", "min", "min / node's", "processor time, median", "min"], rows));
