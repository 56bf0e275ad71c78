// Starts in fresh processes, one after the other, beside Node.js alone: elapsed time, what it is over Node.js alone and as a multiple of it, and processor time.
// node bench/runtime/cold.mjs [--rounds 15] [--data ../shared/data]
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import "../measuring/built-package.mjs";
import { childrenTime, describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { summary } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const { rounds, data } = readOptions({
  rounds: { type: "string", default: "15" },
  data: { type: "string", default: resolve(root, "../shared/data") },
});
const program = fileURLToPath(new URL("../../bin/inferyard.js", import.meta.url));
const miniLm = join(data, "all-MiniLM-L6-v2");
const script = (text) => ["--input-type=module", "-e", text];
const embedWith = (target) => [program, "embed", "hello", "--model", miniLm, "--target", target];

// `aim`: milliseconds over Node.js alone, on an idle machine of 2 cores. `isFirst`: with a data folder that nothing was written to yet.
const starts = [
  { name: "node -e 0", args: ["-e", "0"] },
  { name: 'import("inferyard")', args: script('await import("inferyard")'), aim: 80 },
  {
    name: "createRuntime()",
    args: script('const { createRuntime } = await import("inferyard"); await (await createRuntime()).dispose();'),
  },
  { name: "inferyard --help", args: [program, "--help"] },
  { name: 'inferyard embed "hello"', args: [program, "embed", "hello"], aim: 200 },
  ...(existsSync(miniLm)
    ? [
        { name: "a vector of MiniLM on onnx:cpu", args: embedWith("onnx:cpu"), aim: 600 },
        { name: "a vector of MiniLM on native", args: embedWith("native:cpu"), aim: 800 },
      ]
    : []),
  { name: "inferyard doctor", args: [program, "doctor"], aim: 1500 },
  { name: "inferyard doctor, the first time", args: [program, "doctor"], aim: 3000, isFirst: true },
];

const folder = mkdtempSync(join(tmpdir(), "inferyard-cold-"));
const measured = starts.map((start) => ({ ...start, elapsed: [], processor: [] }));
const load = watchLoad();
try {
  for (let round = -1; round < Number(rounds); round++) {
    for (const { name, args, isFirst = false, elapsed, processor } of measured) {
      const home = join(folder, isFirst ? `first-${round}` : "data");
      const [before, started] = [childrenTime(), performance.now()];
      const { status, stderr } = spawnSync(process.execPath, args, { cwd: root, env: { ...process.env, INFERYARD_HOME: home } });
      const milliseconds = performance.now() - started;
      if (status !== 0) throw new Error(`${name} ended with ${status}: ${String(stderr)}`);
      if (round < 0) continue; // the first round fills the caches of the file system and of Node.js, and the record of self-tests
      elapsed.push(milliseconds);
      if (before !== undefined) processor.push(childrenTime() - before);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}

const alone = summary(measured[0].elapsed);
const rows = measured.map(({ name, elapsed, processor, aim }) => {
  const { median, min } = summary(elapsed);
  const used = processor.length === 0 ? undefined : summary(processor);
  const over = name === measured[0].name ? undefined : (median - alone.median).toFixed(0);
  return [
    name,
    median.toFixed(0),
    over,
    aim?.toFixed(0),
    (median / alone.median).toFixed(1),
    min.toFixed(0),
    used?.median.toFixed(0),
    used?.min.toFixed(0),
  ];
});
console.log(describeMachine());
console.log(`processors used by others: ${describeLoad(load())}; ${rounds} rounds; milliseconds`);
const heads = ["", "median", "over node", "aim over node", "median / node's", "min", "processor time, median", "min"];
console.log(formatTable(heads, rows));
