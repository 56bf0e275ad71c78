/**
 * A GGUF model with 110 million random weights on `native`, multiplied by the engine's own kernel and by ggml's, called through FFI: memory and tokens per second.
 *
 * npm run build && npx tsx bench/language/ggml-kernels.mjs [--type IQ2_S] [--rounds 5]
 *
 * Each measurement is a process of its own with one thread; they take turns. A prompt has 64 tokens, then 64 are decoded one by one. Medians are reported. Memory is
 * resident memory after the last token less that before the load.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { native } from "inferyard/backends/native";
import { GgmlLibrary } from "../../src/libraries/ggml/index.ts";
import { readManifest } from "../../src/models/index.ts";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { formatTable } from "../measuring/table.mjs";
import { parameters, writeRandomModel } from "./random-model.mjs";

const own = fileURLToPath(import.meta.url);
const tokens = 64;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { type: { type: "string", default: "IQ2_S" }, rounds: { type: "string", default: "5" } },
});
if (positionals.length > 0) await measure(...positionals);
else await compare(values.type, Number(values.rounds));

async function compare(type, rounds) {
  const load = watchLoad();
  const folder = mkdtempSync(join(tmpdir(), "inferyard-ggml-"));
  const path = join(folder, "model.gguf");
  const kernels = { "engine's own": "", "ggml's": `${type === "IQ2_S" ? "IQ2S" : type}_GGML_CPU` };
  const results = Object.fromEntries(Object.keys(kernels).map((name) => [name, []]));
  try {
    const bins = fileURLToPath(
      new URL(
        `../../node_modules/@node-llama-cpp/${process.platform}-${process.arch}/bins/${process.platform}-${process.arch}`,
        import.meta.url,
      ),
    );
    const ggml = await GgmlLibrary.open(bins);
    writeRandomModel(path, type, (of, floats) => ggml.fromFloat(of, floats));
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, id] of Object.entries(kernels))
        results[name].push(JSON.parse(execFileSync(process.execPath, [own, path, id], { encoding: "utf8" })));
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  const median = (name, field) => results[name].map((each) => each[field]).toSorted((a, b) => a - b)[Math.floor(rounds / 2)];
  console.log(`${describeMachine()}; ${describeLoad(load())}`);
  console.log(`${(parameters / 1e6).toFixed(1)} million weights in ${type}, one thread, medians of ${rounds} rounds\n`);
  const rows = Object.keys(kernels).map((name) => [
    name,
    `${(median(name, "bytes") / 1e6).toFixed(0)} MB`,
    `${(median(name, "load") / 1e3).toFixed(1)} s`,
    median(name, "prompt").toFixed(0),
    median(name, "decode").toFixed(1),
  ]);
  console.log(formatTable(["kernel", "memory", "load", "prompt tokens/s", "decoded tokens/s"], rows));
}

async function measure(path, id) {
  const before = process.memoryUsage().rss;
  const { variants } = await readManifest(path);
  const start = performance.now();
  const settings = { threads: 1, contextLength: 256, ...(id === "" ? {} : { kernels: [id] }) };
  const model = await native().loadLanguage(variants[0], { type: "cpu", index: 0 }, settings);
  const load = performance.now() - start;
  const sequence = await model.createSequence();
  const decode = async (ids) => void (await model.decode([{ sequence, tokens: ids, logits: 1 }]));
  await decode([1]);
  const rate = async (work) => {
    const from = performance.now();
    await work();
    return (tokens / (performance.now() - from)) * 1e3;
  };
  const prompt = await rate(() => decode(Array.from({ length: tokens }, (_, index) => 300 + index)));
  const decoded = await rate(async () => {
    for (let index = 0; index < tokens; index += 1) await decode([500 + index]);
  });
  const evidence = (await model.evidence()).filter((each) => each.includes("kernel"));
  const bytes = process.memoryUsage().rss - before;
  console.log(JSON.stringify({ load, prompt, decode: decoded, bytes, evidence }));
  await model.dispose();
}
