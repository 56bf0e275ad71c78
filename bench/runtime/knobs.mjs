// What the knobs of onnxruntime's memory do to speed and memory, on MiniLM with inputs of mixed lengths:
//   node bench/runtime/knobs.mjs                     memoryPattern and memoryArena, fp32 (--variant int8 for the other)
//   node bench/runtime/knobs.mjs --large             the same, where batches are large and what follows is small
//   node bench/runtime/knobs.mjs --buckets           sessions for each size of input, as Kapsl keeps them, which is not built
// Each configuration runs in a process of its own, in turn, --rounds times (3), on one thread. Medians; ratios are to the first line, round by
// round. About a minute and a half each on a quiet machine.
import { fork } from "node:child_process";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { median, pairedRatios } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";

const {
  variant = "fp32",
  rounds = "3",
  buckets = false,
  large = false,
} = readOptions({
  variant: { type: "string" },
  rounds: { type: "string" },
  buckets: { type: "boolean" },
  large: { type: "boolean" },
});

const memoryConfigurations = [
  { name: "defaults", settings: {} },
  { name: "memoryPattern: false", settings: { memoryPattern: false } },
  { name: "memoryArena: false", settings: { memoryArena: false } },
  { name: "both false", settings: { memoryPattern: false, memoryArena: false } },
];
const bucketConfigurations = [
  { name: "one session", sessions: 1 },
  { name: "4 sessions, by 64", sessions: 4, granularity: 64 },
  { name: "16 sessions, by 32", sessions: 16, granularity: 32 },
];
const configurations = buckets ? bucketConfigurations : memoryConfigurations;
const usualWorks = buckets
  ? ["one text at a time", "batches of 512 tokens"]
  : ["batches of 512 tokens", "batches of 4096 tokens"];
const works = large ? ["two batches of 16 x 256 tokens, then ten short texts"] : usualWorks;

console.log(
  `${describeMachine()}\nMiniLM ${variant}, ${rounds} rounds, one thread, each configuration in a process of its own, in turn`,
);
const load = watchLoad();
for (const work of works) {
  const records = configurations.map(() => []);
  for (let round = 0; round < Number(rounds); round += 1) {
    for (let turn = 0; turn < configurations.length; turn += 1) {
      const index = (turn + round) % configurations.length;
      records[index].push(await runInChild({ variant, work, ...configurations[index] }));
    }
  }
  const of = (index, name) => records[index].map((record) => record[name]);
  const rows = configurations.map(({ name }, index) => {
    const ratio = pairedRatios(of(index, "milliseconds"), of(0, "milliseconds"));
    return [
      name,
      median(of(index, "milliseconds")).toFixed(0),
      ratio.median.toFixed(2),
      `${ratio.min.toFixed(2)} - ${ratio.max.toFixed(2)}`,
      median(of(index, "peak")).toFixed(0),
      median(of(index, "after")).toFixed(0),
      median(of(index, "loads")).toFixed(0),
    ];
  });
  const head = ["", "CPU ms", "ratio", "rounds", "peak MB", "MB after", "loads"];
  console.log(`\n${work}\n${formatTable(head, rows)}`);
}
console.log(`\n${describeLoad(load())}`);

function runInChild(task) {
  const child = fork(new URL("./knobs-child.mjs", import.meta.url), [JSON.stringify(task)]);
  return new Promise((resolve, reject) => {
    let result;
    child.once("message", (message) => (result = message));
    child.once("error", reject);
    child.once("exit", (code) => (code === 0 && result ? resolve(result) : reject(new Error(`${task.name} ended with ${code}`))));
  });
}
