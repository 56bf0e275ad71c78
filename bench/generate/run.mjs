// Text by Inferyard on its own engine and on onnxruntime, by transformers.js, and by onnxruntime-node with a loop written by hand: the same model, prompts and
// threads, in turns. `npm run bench:generate`; `-- --threads 2`, `--quick` (few rounds), `--small` (4 layers), `--json`. Ends with 1 when an aim is missed: on
// `native` faster than transformers.js behind every prompt, a token behind 1,024 at most 1.3 times as long as one behind 64, and four texts at once at
// least 2.5 times the tokens of one.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import "../measuring/built-package.mjs";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { gpt2Bytes } from "../native/decoder-files.mjs";
import { readOptions } from "../measuring/options.mjs";
import { installPeers } from "../peers/install.mjs";
import { median } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";

const flags = { threads: { type: "string" }, quick: { type: "boolean" }, small: { type: "boolean" }, json: { type: "boolean" } };
const { threads = "2", quick = false, small = false, json = false } = readOptions(flags);
const rounds = quick ? 2 : 5;
const count = 16; // tokens of each text
const pasts = [64, 256, 1024];
const aims = { flatness: 1.3, fourTexts: 2.5 };
const names = ["inferyard native", "inferyard onnx", "transformers.js", "onnxruntime-node"];

installPeers();
const load = watchLoad();
const folder = mkdtempSync(join(tmpdir(), "inferyard-bench-generate-"));
process.once("exit", () => rmSync(folder, { recursive: true }));
const sizes = { layers: small ? 4 : 12, classes: small ? 8192 : 50_257, positions: 2048 };
const modelFolder = writeModel(sizes);

const contenders = [];
for (const name of names) contenders.push(await start(name));
for (const one of contenders) for (const past of pasts) await measure(one, [prompt(past, 0)]); // compiles, and grows buffers
const cases = [
  ...contenders.flatMap((one) => pasts.map((past) => ({ one, past, texts: 1, runs: [] }))),
  { one: contenders[0], past: 64, texts: 4, runs: [] },
];
const wrong = new Set();
for (let round = 1; round <= rounds; round += 1) {
  const wanted = new Map();
  for (const each of round % 2 === 0 ? cases.toReversed() : cases) {
    const { one, past, texts, runs } = each;
    // New prompts in each round: none is read from a cache. Those of one round are the same for all.
    const run = await measure(
      one,
      Array.from({ length: texts }, (_, text) => prompt(past, round * 10 + text)),
    );
    runs.push(run);
    const key = String(past);
    const tokens = run.tokens[0].join();
    if ((wanted.get(key) ?? tokens) !== tokens) wrong.add(`${one.name} behind ${past}, round ${round}`);
    wanted.set(key, wanted.get(key) ?? tokens);
  }
}
const ended = contenders.map(({ child }) => once(child, "exit"));
for (const { child } of contenders) child.disconnect();
await Promise.all(ended);

const results = cases.map(({ one, past, texts, runs }) => {
  const perToken = median(runs.map(({ first, all }) => (all - first) / (count - 1)));
  return {
    name: one.name,
    past,
    texts,
    firstTokenMs: median(runs.map(({ first }) => first)),
    prefillTokensPerSecond: median(runs.map(({ first }) => (1000 * past * texts) / first)),
    millisecondsPerToken: perToken,
    decodeTokensPerSecond: (1000 * texts) / perToken,
    memoryMiB: Math.round(Math.max(...runs.map(({ bytes }) => bytes)) / 2 ** 20),
    peakMiB: Math.round(Math.max(...runs.map(({ peak }) => peak)) / 2 ** 20),
  };
});
const of = (name, past, texts = 1) => results.find((each) => each.name === name && each.past === past && each.texts === texts);
const ratios = Object.fromEntries(
  pasts.map((past) => {
    const [own, theirs] = ["inferyard native", "transformers.js"].map((name) => of(name, past));
    return [
      past,
      {
        decode: own.decodeTokensPerSecond / theirs.decodeTokensPerSecond,
        prefill: own.prefillTokensPerSecond / theirs.prefillTokensPerSecond,
        best:
          Math.max(own.decodeTokensPerSecond, of("inferyard onnx", past).decodeTokensPerSecond) / theirs.decodeTokensPerSecond,
      },
    ];
  }),
);
const flatness = of("inferyard native", 1024).millisecondsPerToken / of("inferyard native", 64).millisecondsPerToken;
const fourTexts = of("inferyard native", 64, 4).decodeTokensPerSecond / of("inferyard native", 64).decodeTokensPerSecond;
const met = Object.values(ratios).every(({ decode }) => decode > 1) && flatness <= aims.flatness && fourTexts >= aims.fourTexts;
const report = {
  machine: describeMachine(),
  load: load(),
  threads: Number(threads),
  sizes,
  rounds,
  results,
  ratios,
  flatness,
  fourTexts,
  differing: [...wrong],
  met,
};
if (json) console.log(JSON.stringify(report));
else print();
process.exitCode = met ? 0 : 1;

function writeModel({ layers, classes, positions }) {
  const own = join(folder, "gpt2-random");
  mkdirSync(join(own, "onnx"), { recursive: true });
  writeFileSync(join(own, "onnx/model.onnx"), gpt2Bytes(sizes));
  const config = {
    architectures: ["GPT2LMHeadModel"],
    model_type: "gpt2",
    n_embd: 768,
    n_layer: layers,
    n_head: 12,
    n_positions: positions,
    vocab_size: classes,
    eos_token_id: 0,
  };
  writeFileSync(join(own, "config.json"), JSON.stringify(config));
  writeFileSync(join(own, "generation_config.json"), JSON.stringify({ eos_token_id: 0 }));
  return own;
}

async function start(name) {
  const child = fork(fileURLToPath(new URL("child.mjs", import.meta.url)), [name, modelFolder, threads]).setMaxListeners(0);
  const [{ load: loadMs }] = await Promise.race([
    once(child, "message"),
    once(child, "exit").then(([code]) => Promise.reject(new Error(`${name} ended with ${code}`))),
  ]);
  return { name, child, loadMs };
}

async function measure({ name, child }, prompts) {
  const answer = Promise.race([
    once(child, "message"),
    once(child, "exit").then(([code]) => Promise.reject(new Error(`${name} ended with ${code}`))),
  ]);
  child.send({ prompts, count });
  const [run] = await answer;
  return run;
}

function prompt(length, seed) {
  return Array.from({ length }, (_, index) => 1 + ((index * 7919 + seed * 104_729) % (sizes.classes - 1)));
}

function print() {
  console.log(describeMachine());
  console.log(
    `${describeLoad(report.load)}; ${threads} threads, medians of ${rounds} rounds, ${count} tokens behind each prompt\n`,
  );
  const rows = results.map((each) => [
    each.texts === 1 ? each.name : `${each.name}, ${each.texts} texts`,
    String(each.past),
    each.firstTokenMs.toFixed(0),
    each.prefillTokensPerSecond.toFixed(0),
    each.millisecondsPerToken.toFixed(1),
    each.decodeTokensPerSecond.toFixed(1),
    String(each.memoryMiB),
    String(each.peakMiB),
  ]);
  console.log(
    formatTable(["", "prompt", "first token ms", "prefill tokens/s", "ms per token", "tokens/s", "memory MiB", "peak MiB"], rows),
  );
  for (const [past, { decode, prefill, best }] of Object.entries(ratios))
    console.log(
      `native to transformers.js behind ${past}: decode ${decode.toFixed(2)}, prefill ${prefill.toFixed(2)}; the faster of our engines: decode ${best.toFixed(2)}`,
    );
  console.log(`a token behind 1,024 to one behind 64 on native: ${flatness.toFixed(2)} (aim ${aims.flatness})`);
  console.log(`four texts at once to one on native: ${fourTexts.toFixed(2)} (aim ${aims.fourTexts})`);
  if (wrong.size > 0) console.log(`tokens that differ from the first contender's: ${[...wrong].join("; ")}`);
}
