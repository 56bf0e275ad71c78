// Decoding on our own engine with a random model of GPT-2's size: tokens per second of 1, 4 and 16 sequences in one call, and milliseconds per token behind
// 64, 256 and 1,024 tokens. `npm run bench:sequences`; `-- --threads 2` computes with two threads. Ends with 1 when 4 sequences give less than 2.5 times the
// tokens of one, or a token behind 1,024 takes more than 1.3 times as long as one behind 64.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import "../measuring/built-package.mjs";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { formatTable } from "../measuring/table.mjs";
import { config, writeGpt2 } from "./gpt2-file.mjs";

const options = { quick: { type: "boolean" }, json: { type: "boolean" }, threads: { type: "string" } };
const { quick = false, json = false, threads = "1" } = readOptions(options);
const rounds = quick ? 3 : 8;
const steps = 4; // of each measurement
const aims = { fourSequences: 2.5, flatness: 1.3 };
const counts = [1, 4, 16];
const pasts = [64, 256, 1024];

const { native } = await import("inferyard/backends/native");
const load = watchLoad();
const folder = mkdtempSync(join(tmpdir(), "inferyard-bench-sequences-"));
process.once("exit", () => rmSync(folder, { recursive: true }));
const path = join(folder, "model.safetensors");
const bytes = await writeGpt2(path);
const files = { format: "safetensors", path, bytes, architecture: config.architectures[0], config };
const started = performance.now();
const model = await native().loadLanguage(files, { type: "cpu", index: 0 }, { threads: Number(threads) });
const loadMilliseconds = performance.now() - started;
const prompt = (length, seed) => Array.from({ length }, (_, index) => (index * 7919 + seed * 104_729) % config.vocab_size);

const cases = [];
for (const count of counts) cases.push(await start(`${count} sequences behind 64`, count, 64));
for (const past of pasts) cases.push(await start(`1 sequence behind ${past}`, 1, past));
for (let round = 0; round < rounds; round += 1)
  for (const each of round % 2 === 0 ? cases : cases.toReversed()) each.times.push(await measure(each)); // in turns, so that other load meets all alike
const results = cases.map(({ name, count, past, prefill, times }) => {
  const best = Math.min(...times);
  return {
    name,
    count,
    past,
    millisecondsPerStep: best,
    tokensPerSecond: (1000 * count) / best,
    prefillTokensPerSecond: (1000 * past) / prefill,
  };
});
const speed = (count) => results.find((each) => each.count === count).tokensPerSecond;
const perToken = (past) => results.findLast((each) => each.count === 1 && each.past === past).millisecondsPerStep;
const fourSequences = speed(4) / speed(1);
const flatness = perToken(1024) / perToken(64);
const met = fourSequences >= aims.fourSequences && flatness <= aims.flatness;
const { memory } = model;
await model.dispose();
report();
process.exitCode = met ? 0 : 1;

async function start(name, count, past) {
  const sequences = [];
  let prefill = Number.POSITIVE_INFINITY;
  for (let index = 0; index < count; index += 1) {
    const sequence = await model.createSequence();
    const from = performance.now();
    await model.decode([{ sequence, tokens: prompt(past, index) }]);
    prefill = Math.min(prefill, performance.now() - from);
    sequences.push(sequence);
  }
  const one = { name, count, past, sequences, prefill, times: [] };
  await measure(one); // compiles
  return one;
}

// Milliseconds of one step of all sequences.
async function measure({ sequences, past }) {
  const from = performance.now();
  for (let step = 0; step < steps; step += 1)
    await model.decode(sequences.map((sequence, index) => ({ sequence, tokens: [prompt(step + 1, index).at(-1)] })));
  const milliseconds = (performance.now() - from) / steps;
  for (const sequence of sequences) await model.truncateSequence(sequence, past);
  return milliseconds;
}

function report() {
  const all = {
    machine: describeMachine(),
    load: load(),
    threads: Number(threads),
    rounds,
    loadMilliseconds,
    memory,
    fourSequences,
    flatness,
    aims,
    met,
    results,
  };
  if (json) return console.log(JSON.stringify(all));
  console.log(`${all.machine}; threads: ${threads}; ${describeLoad(all.load)}`);
  const fixed = (value) => value.toFixed(1);
  console.log(
    formatTable(
      ["", "ms per step", "tokens/s", "prompt tokens/s"],
      results.map((each) => [
        each.name,
        fixed(each.millisecondsPerStep),
        fixed(each.tokensPerSecond),
        fixed(each.prefillTokensPerSecond),
      ]),
    ),
  );
  console.log(`load: ${(loadMilliseconds / 1000).toFixed(1)} s; memory: ${(memory.bytes / 2 ** 20).toFixed(0)} MiB`);
  console.log(
    `4 sequences against 1: ${fourSequences.toFixed(2)} (aim: ${aims.fourSequences}); 1,024 against 64 tokens: ${flatness.toFixed(2)} (aim: ${aims.flatness})`,
  );
}
