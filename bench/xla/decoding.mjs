// Decoding on XLA with a random model of GPT-2's size: a chat of 200 tokens with no program kept, milliseconds per token along it, and tokens per second of 1 and
// 4 sequences in one call, in medians of elapsed and of processor time. `npm run bench:xla-decoding`; `-- --threads 2`, `--device cuda`, `--quick`, `--json`. Ends with 1
// when 4 sequences give less than 2.5 times the tokens of one, in processor time.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import "../measuring/built-package.mjs";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { median } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";
import { config, writeGpt2 } from "../native/gpt2-file.mjs";

const options = {
  quick: { type: "boolean" },
  json: { type: "boolean" },
  threads: { type: "string" },
  device: { type: "string" },
};
const { quick = false, json = false, threads = "1", device = "cpu" } = readOptions(options);
const steps = quick ? 8 : 24;
const chatTokens = quick ? 40 : 200;
const aim = 2.5;

const load = watchLoad();
const folder = mkdtempSync(join(tmpdir(), "inferyard-bench-xla-decoding-"));
process.once("exit", () => rmSync(folder, { recursive: true }));
process.env["INFERYARD_HOME"] = join(folder, "data"); // no program is kept from before
const { xla } = await import("inferyard/backends/xla");
const path = join(folder, "model.safetensors");
const bytes = await writeGpt2(path);
const files = { format: "safetensors", path, bytes, architecture: config.architectures[0], config };
const prompt = (length, seed) => Array.from({ length }, (_, index) => (index * 7919 + seed * 104_729) % config.vocab_size);

const [model, loading] = await timed(() => xla().loadLanguage(files, { type: device, index: 0 }, { threads: Number(threads) }));
const chat = await model.createSequence();
const [, reading] = await timed(() => model.decode([{ sequence: chat, tokens: prompt(40, 1) }]));
const tokens = [];
for (let index = 0; index < chatTokens; index += 1)
  tokens.push((await timed(() => model.decode([{ sequence: chat, tokens: [index + 3] }])))[1]);
const programs = model.programs;
await model.releaseSequence(chat);

const counts = [1, 4];
const sequences = [];
for (let index = 0; index < Math.max(...counts); index += 1) {
  const sequence = await model.createSequence();
  await model.decode([{ sequence, tokens: prompt(64, index) }]);
  sequences.push(sequence);
}
const step = (count, token) => model.decode(sequences.slice(0, count).map((sequence) => ({ sequence, tokens: [token] })));
for (const count of counts) await step(count, 2); // compiles
const times = new Map(counts.map((count) => [count, []]));
for (let index = 0; index < steps; index += 1)
  for (const count of counts) times.get(count).push((await timed(() => step(count, index + 3)))[1]);
const speeds = counts.map((count) => ({ count, ...medians(times.get(count)) }));
const fourSequences = (4 * speeds[0].processor) / speeds[1].processor;
const quarter = Math.ceil(tokens.length / 4);
const flatness = medians(tokens.slice(-quarter)).processor / medians(tokens.slice(0, quarter)).processor;
await model.dispose();
report();
process.exitCode = fourSequences >= aim ? 0 : 1;

// The result, and the milliseconds that it took: elapsed, and of the processor.
async function timed(run) {
  const [started, used] = [performance.now(), process.cpuUsage()];
  const result = await run();
  const { user, system } = process.cpuUsage(used);
  return [result, { elapsed: performance.now() - started, processor: (user + system) / 1000 }];
}

function medians(all) {
  return { elapsed: median(all.map(({ elapsed }) => elapsed)), processor: median(all.map(({ processor }) => processor)) };
}

function report() {
  const all = {
    machine: describeMachine(),
    load: load(),
    threads: Number(threads),
    programs,
    loading,
    reading,
    speeds,
    fourSequences,
    flatness,
  };
  if (json) return console.log(JSON.stringify({ ...all, chat: medians(tokens) }));
  console.log(`${all.machine}; threads: ${threads}; ${describeLoad(all.load)}`);
  const row = (name, { elapsed, processor }) => [name, elapsed.toFixed(1), processor.toFixed(1)];
  const rows = [
    row("load", loading),
    row("prompt of 40 tokens", reading),
    row(`a token of ${chatTokens}`, medians(tokens)),
    ...speeds.map(({ count, ...each }) => row(`a token of ${count} at once`, each)),
  ];
  console.log(formatTable(["", "ms", "processor ms"], rows));
  console.log(`programs of the chat: ${programs?.compiled}, compiled in ${((programs?.compileMs ?? 0) / 1000).toFixed(1)} s`);
  console.log(
    `4 sequences against 1: ${fourSequences.toFixed(2)} (aim: ${aim}); the last quarter against the first: ${flatness.toFixed(2)}`,
  );
}
