// XLA beside our other engines, the same models and inputs in one run, two threads each: `npm run bench:xla`; `-- --quick` (few rounds), `--only MiniLM`,
// `--targets xla:cpu,onnx:cpu`, `--threads 1`, `--json`. Each engine has a process of its own that stays for all rounds of a model; within a round they take turns, so that what others do
// on the machine meets all alike. Programs are compiled in each run: the data folder is a new one. Ends with 1 when an aim is missed.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import "../measuring/built-package.mjs";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { median, pairedRatios } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";
import { gpt2Bytes } from "../native/decoder-files.mjs";
import { startEngine } from "../native/engine.mjs";
import { works as tensorWorks } from "../native/works.mjs";
import { findPlugins } from "../../src/backends/xla/plugins/find-plugins.ts";
import { readPlugin } from "../../src/backends/xla/plugins/read-plugin.ts";

const options = {
  quick: { type: "boolean" },
  json: { type: "boolean" },
  threads: { type: "string", default: "2" },
  only: { type: "string", default: "" },
  targets: { type: "string", default: "xla:cpu,onnx:cpu,native:cpu,wasm:cpu" },
};
const { quick = false, json = false, threads, only, targets: named } = readOptions(options);
const targets = named.split(",");
const rounds = quick ? 3 : 9;
const reference = "onnx:cpu";
const aims = { "MiniLM 1x128 fp32": 1, "MiniLM 32x128 fp32": 1 }; // steady time of XLA, as a multiple of onnxruntime's
const sizes = { layers: 12, classes: 50_257, positions: 1024 }; // those of GPT-2

const plugin = await findCpuPlugin();
if (plugin === undefined) {
  console.error("no PJRT plugin for CPUs was found: run `inferyard backends install xla --accelerator cpu`");
  process.exit(1);
}
const program = new URL("./engine-child.mjs", import.meta.url);
const folder = mkdtempSync(join(tmpdir(), "inferyard-bench-xla-"));
process.once("exit", () => rmSync(folder, { recursive: true }));
const environment = { INFERYARD_HOME: join(folder, "data"), PJRT_PLUGIN_LIBRARY_PATH: plugin.path };
const works = [
  ...tensorWorks.filter(({ name }) => /^(?:MiniLM .*fp32|SqueezeNet)/.test(name)).map(tensorWork),
  { name: "GPT-2 size, 16 tokens behind 64", model: decoderFolder, tokens: { prompt: prompt(64), count: 16 }, slow: true },
];

const load = watchLoad();
const results = [];
for (const { model, ...work } of works) {
  if (!work.name.includes(only)) continue;
  const path = model();
  if (!existsSync(path)) {
    console.error(`${work.name}: skipped, ${path} is not there`);
    continue;
  }
  console.error(work.name);
  results.push(await measured({ ...work, path }));
}
const missed = results.filter(({ name, rows }) => aims[name] !== undefined && !(rows["xla:cpu"]?.ratio <= aims[name]));
report({ machine: describeMachine(), load: load(), plugin: plugin.path, threads: Number(threads), rounds, aims, results });
if (missed.length > 0) process.exitCode = 1;

async function findCpuPlugin() {
  for (const file of (await findPlugins()).files) {
    const reading = await readPlugin(file.path);
    if (reading.ok && reading.kind?.deviceType === "cpu") return file;
  }
  return undefined;
}

async function measured({ name, path, inputs, tokens, slow = false, tolerance }) {
  const engines = [];
  const refusals = {};
  for (const target of targets) {
    const work = { target, threads: Number(threads), path, inputs, tokens };
    const engine = startEngine(work, { program, environment });
    try {
      engines.push({ target, engine, first: await engine.next(), times: [] });
    } catch (error) {
      refusals[target] = error.message;
    }
  }
  for (let round = 0; round < (slow ? Math.min(rounds, 4) : rounds); round += 1)
    for (const each of round % 2 === 0 ? engines : engines.toReversed()) each.times.push(await each.engine.time(slow ? 1 : 5));
  await Promise.all(engines.map(async ({ engine }) => engine.stop()));
  const medians = (times) => times.map(({ milliseconds }) => median(milliseconds));
  const processor = (times) => times.map(({ processorMilliseconds }) => processorMilliseconds);
  const measuredReference = engines.find(({ target }) => target === reference);
  const rows = engines.map(({ target, first, times }) => [
    target,
    {
      engine: first.engine,
      loadMilliseconds: first.loadMilliseconds,
      compileMilliseconds: first.compileMilliseconds,
      firstMilliseconds: first.firstMilliseconds,
      steadyMilliseconds: median(medians(times)),
      ratio: measuredReference && pairedRatios(medians(times), medians(measuredReference.times)).median,
      processorMilliseconds: median(processor(times)),
      processorRatio: measuredReference && pairedRatios(processor(times), processor(measuredReference.times)).median,
      residentMegabytes: times.at(-1).residentMegabytes,
      difference: measuredReference && difference(first.outputs, measuredReference.first.outputs),
    },
  ]);
  return { name, tolerance, rows: Object.fromEntries(rows), refusals };
}

// The largest over all outputs, relative to the largest element of the output where that is above 1.
function difference(outputs, expected) {
  const apart = Object.entries(expected).map(([name, wanted]) => {
    const size = wanted.reduce((largest, value) => Math.max(largest, Math.abs(value)), 1);
    return wanted.reduce((worst, value, index) => Math.max(worst, Math.abs(value - outputs[name][index])), 0) / size;
  });
  return Math.max(...apart);
}

function tensorWork({ name, path, inputs, tolerance, slow }) {
  const given = Object.entries(inputs).map(([key, { type, shape, data }]) => [key, { dataType: type, shape, data }]);
  return { name, model: () => path, inputs: Object.fromEntries(given), tolerance, slow };
}

// A decoder of GPT-2's size with random weights, as a folder with an ONNX file.
function decoderFolder() {
  const own = join(folder, "gpt2-random");
  mkdirSync(join(own, "onnx"), { recursive: true });
  writeFileSync(join(own, "onnx/model.onnx"), gpt2Bytes(sizes));
  const { layers: n_layer, classes: vocab_size, positions: n_positions } = sizes;
  const architecture = { architectures: ["GPT2LMHeadModel"], model_type: "gpt2", n_embd: 768, n_layer, n_head: 12 };
  writeFileSync(join(own, "config.json"), JSON.stringify({ ...architecture, n_positions, vocab_size, eos_token_id: 0 }));
  writeFileSync(join(own, "generation_config.json"), JSON.stringify({ eos_token_id: 0 }));
  return own;
}

function prompt(length) {
  return Array.from({ length }, (_, index) => 1 + ((index * 7919) % (sizes.classes - 1)));
}

function report(result) {
  if (json) {
    console.log(JSON.stringify(result, null, 2));
    return;
  }
  console.log(`machine  ${result.machine}\nload     ${describeLoad(result.load)}\nplugin   ${result.plugin}`);
  console.log(
    `threads  ${result.threads} each; medians of ${result.rounds} rounds (4 of what is slow), engines in turn; ratios are medians of rounds, to ${reference}\n`,
  );
  const head = [
    "model",
    "engine",
    "load s",
    "compile s",
    "first ms",
    "steady ms",
    "ratio",
    "aim",
    "processor ms",
    "ratio",
    "memory MB",
    "differs",
  ];
  const figure = (value, digits) => value?.toFixed(digits) ?? "-";
  const lines = result.results.flatMap(({ name, rows }) =>
    Object.entries(rows).map(([target, row]) => [
      name,
      target,
      figure(row.loadMilliseconds / 1000, 1),
      row.compileMilliseconds === undefined ? "-" : figure(row.compileMilliseconds / 1000, 1),
      figure(row.firstMilliseconds, 0),
      figure(row.steadyMilliseconds, 1),
      figure(row.ratio, 2),
      (target === "xla:cpu" && aims[name]?.toFixed(1)) || "-",
      figure(row.processorMilliseconds, 1),
      figure(row.processorRatio, 2),
      figure(row.residentMegabytes, 0),
      row.difference?.toExponential(1) ?? "-",
    ]),
  );
  console.log(formatTable(head, lines));
  for (const { name, refusals } of result.results)
    for (const [target, reason] of Object.entries(refusals)) console.log(`${name}: ${target} refused: ${reason}`);
}
