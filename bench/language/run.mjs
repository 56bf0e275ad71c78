/**
 * Prefill and decode tokens per second of a GGUF model with 110 million random weights: node-llama-cpp called directly, our backend `llamacpp` over it, our backend
 * `library` with a llama.cpp library (where there is one: that of node-llama-cpp, or --library), `native`, and ik_llama.cpp by its Python package (where Python can install it; it has no batches of sequences).
 *
 * npm run bench:language -- [--types Q8_0,Q4_0,Q4_K,Q6_K,TQ2_0,I2_S,F16] [--threads 1] [--rounds 5] [--library PATH] [--engines direct,native,...] [--svg FILE] [--json]
 * The types fp32, int8 and int4 are those of safetensors in float32 on `native`: as they are, and packed while loading.
 *
 * Engines take turns in each round; medians are reported, with ratios to node-llama-cpp. A prompt has 256 tokens, then 64 are decoded one by one with the most
 * probable token. The last columns decode 4 sequences at once. The row "sweep" says how many tokens a second threads could decode that read the weights, as `native`
 * packs them, and do nothing else; native's share of it is behind its ratio.
 */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import "../measuring/built-package.mjs";
import { llamacpp } from "inferyard/backends/llamacpp";
import { library } from "inferyard/backends/library";
import { native } from "inferyard/backends/native";
import { readManifest } from "../../src/models/index.ts";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { writeBars } from "../measuring/bars-svg.mjs";
import { formatTable } from "../measuring/table.mjs";
import { decodedBytes, parameters, writeRandomFolder, writeRandomModel } from "./random-model.mjs";
import { measureSweep } from "./sweep.mjs";

const promptTokens = 256;
const decodedTokens = 64;
const parallel = 4;

const { values } = parseArgs({
  options: {
    types: { type: "string", default: "Q8_0,Q4_0,Q4_K,Q6_K,TQ2_0,I2_S,F16" },
    threads: { type: "string", default: "1" },
    rounds: { type: "string", default: "5" },
    library: { type: "string" },
    engines: { type: "string", default: "direct,llamacpp,library,native,ik_llama.cpp" },
    svg: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const [threads, rounds] = [Number(values.threads), Number(values.rounds)];
const folder = mkdtempSync(join(tmpdir(), "inferyard-language-"));
const chosen = new Set(values.engines.split(","));
const python = chosen.has("ik_llama.cpp") ? installIkLlama() : undefined;
const libraryPath = values.library ?? installedLibrary();
const load = watchLoad();
const results = [];
try {
  for (const type of values.types.split(",")) {
    const path = join(folder, type);
    const isPacked = type === type.toLowerCase();
    if (isPacked) await writeRandomFolder(path);
    else writeRandomModel(`${path}.gguf`, type);
    const engines = await measure(isPacked ? await packedIn(path, type) : await enginesOf(`${path}.gguf`));
    const sweep = await measureSweep(decodedBytes(type), threads);
    if (sweep !== undefined) engines.sweep = { decode: 1000 / sweep };
    results.push({ type, engines });
    rmSync(isPacked ? path : `${path}.gguf`, { recursive: true });
  }
} finally {
  rmSync(folder, { recursive: true });
}
if (values.json) console.log(JSON.stringify({ machine: describeMachine(), parameters, threads, results }));
else {
  console.log(`${describeMachine()}; ${describeLoad(load())}`);
  console.log(
    `${(parameters / 1e6).toFixed(1)} million weights, ${threads} thread(s); tokens per second, medians of ${rounds} rounds; in brackets times node-llama-cpp\n`,
  );
  console.log(formatTable(["type", "engine", "prefill", "", "decode", "", `${parallel} sequences`, ""], results.flatMap(rowsOf)));
}

if (values.svg !== undefined) draw(values.svg);

function draw(path) {
  const titles = { prefill: "prompts of 256 tokens", decode: "decoding", together: `${parallel} sequences` };
  const bars = Object.entries(titles).flatMap(([part, group]) =>
    results
      .filter(({ engines: { direct, native: own } }) => direct?.[part] !== undefined && own?.[part] !== undefined)
      .map(({ type, engines: { direct, native: own } }, index) => ({
        label: type,
        value: own[part] / direct[part],
        note: `${own[part].toFixed(0)} beside ${direct[part].toFixed(0)} tokens a second`,
        ...(index === 0 ? { group } : {}),
      })),
  );
  writeBars(path, {
    title: "Tokens per second of our engine divided by node-llama-cpp's (more is better)",
    subtitle: `${(parameters / 1e6).toFixed(0)} million weights; ${describeMachine()}; ${threads} ${threads === 1 ? "thread" : "threads"}`,
    bars,
    reference: { value: 1, label: "node-llama-cpp", isMoreBetter: true },
  });
}

function rowsOf({ type, engines }) {
  const { direct, sweep } = engines;
  return Object.entries(engines).map(([name, found]) => {
    const cells = ["prefill", "decode", "together"].flatMap((part) => {
      const ratio =
        direct?.[part] === undefined || found[part] === undefined || name === "direct"
          ? ""
          : `(${(found[part] / direct[part]).toFixed(2)})`;
      const share =
        name === "native" && part === "decode" && sweep !== undefined
          ? ` ${((100 * found.decode) / sweep.decode).toFixed(0)} % of the sweep`
          : "";
      return [found[part]?.toFixed(1) ?? "-", `${ratio}${share}`];
    });
    return [type, name === "direct" ? "node-llama-cpp" : name, ...cells];
  });
}

async function enginesOf(path) {
  const { variants } = await readManifest(path);
  return {
    direct: () => openDirect(path),
    llamacpp: () => openOurs(llamacpp(), variants[0]),
    ...(libraryPath === undefined ? {} : { library: () => openOurs(library({ library: libraryPath }), variants[0]) }),
    native: () => openOurs(native(), variants[0]),
    ...(python === undefined ? {} : { "ik_llama.cpp": () => openIkLlama(path) }),
  };
}

async function packedIn(path, type) {
  const [variant] = (await readManifest(path)).variants;
  const packing = type === "fp32" ? {} : { packing: { to: type, from: variant.name, bytes: variant.bytes } };
  return { native: () => openOurs(native(), { ...variant, ...packing }) };
}

async function measure(open) {
  const engines = {};
  for (const [name, create] of Object.entries(open)) {
    if (!chosen.has(name)) continue;
    try {
      const engine = await create();
      await engine.round(); // it warms up
      engines[name] = engine;
    } catch {
      // llama.cpp does not read I2_S, and ik_llama.cpp neither that nor TQ2_0.
    }
  }
  const times = Object.fromEntries(Object.keys(engines).map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const [name, engine] of Object.entries(engines)) times[name].push(await engine.round());
  for (const engine of Object.values(engines)) await engine.close();
  return Object.fromEntries(
    Object.entries(times).map(([name, all]) => [
      name,
      Object.fromEntries(["prefill", "decode", "together"].map((part) => [part, median(all.map((each) => each[part]))])),
    ]),
  );
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

function prompt(seed) {
  return Array.from({ length: promptTokens }, (_, index) => 300 + ((index * 7919 + seed * 104_729) % 15_000));
}

async function openOurs(backend, variant) {
  const model = await backend.loadLanguage(variant, { type: "cpu", index: 0 }, { threads });
  const highest = (logits) => {
    let best = 0;
    for (let index = 1; index < logits.length; index += 1) if (logits[index] > logits[best]) best = index;
    return best;
  };
  return {
    close: () => model.dispose(),
    round: async () => {
      const sequence = await model.createSequence();
      let start = performance.now();
      let [logits] = await model.decode([{ sequence, tokens: prompt(0) }]);
      const prefill = (1000 * promptTokens) / (performance.now() - start);
      start = performance.now();
      for (let step = 0; step < decodedTokens; step += 1)
        [logits] = await model.decode([{ sequence, tokens: [highest(logits)], candidates: 1 }]);
      const decode = (1000 * decodedTokens) / (performance.now() - start);
      await model.releaseSequence(sequence);
      const sequences = [];
      for (let index = 0; index < parallel; index += 1) sequences.push(await model.createSequence());
      let all = await model.decode(sequences.map((each, index) => ({ sequence: each, tokens: prompt(index).slice(0, 32) })));
      start = performance.now();
      for (let step = 0; step < decodedTokens / 2; step += 1)
        all = await model.decode(
          sequences.map((each, index) => ({ sequence: each, tokens: [highest(all[index])], candidates: 1 })),
        );
      const together = (1000 * parallel * (decodedTokens / 2)) / (performance.now() - start);
      for (const each of sequences) await model.releaseSequence(each);
      return { prefill, decode, together };
    },
  };
}

/** As its documentation has it: greedy sampling is llama.cpp's own. */
async function openDirect(path) {
  const { getLlama, LlamaLogLevel } = await import("node-llama-cpp");
  const llama = await getLlama({
    gpu: false,
    build: "never",
    skipDownload: true,
    progressLogs: false,
    logLevel: LlamaLogLevel.disabled,
  });
  const model = await llama.loadModel({ modelPath: path, gpuLayers: 0 });
  const context = await model.createContext({ contextSize: 512, sequences: parallel, threads, batchSize: 512 });
  const sequences = Array.from({ length: parallel }, () => context.getSequence());
  const generate = async (sequence, tokens, count) => {
    let [first, done] = [0, 0];
    for await (const token of sequence.evaluate(tokens, { temperature: 0, yieldEogToken: true })) {
      if (done === 0) first = performance.now();
      done += 1;
      if (done > count || token === undefined) break;
    }
    return first;
  };
  return {
    close: async () => {
      await context.dispose();
      await model.dispose();
      await llama.dispose();
    },
    round: async () => {
      const [sequence] = sequences;
      await sequence.clearHistory();
      const start = performance.now();
      const first = await generate(sequence, prompt(0), decodedTokens);
      const end = performance.now();
      for (const each of sequences) await each.clearHistory();
      await Promise.all(sequences.map((each, index) => each.evaluateWithoutGeneratingNewTokens(prompt(index).slice(0, 31))));
      const begun = performance.now();
      await Promise.all(sequences.map((each) => generate(each, [500], decodedTokens / 2 - 1)));
      const together = (1000 * parallel * (decodedTokens / 2)) / (performance.now() - begun);
      return { prefill: (1000 * promptTokens) / (first - start), decode: (1000 * decodedTokens) / (end - first), together };
    },
  };
}

/** The library of node-llama-cpp for this machine's CPU; undefined if there is none. */
function installedLibrary() {
  const builds = fileURLToPath(new URL("../../node_modules/@node-llama-cpp/linux-x64/bins/linux-x64", import.meta.url));
  try {
    const name = readdirSync(builds).find((file) => /^libllama(?!-common).*\.so$/.test(file));
    return name === undefined ? undefined : join(builds, name);
  } catch {
    return undefined; // another system
  }
}

/** The Python that has ik_llama.cpp, in an environment of its own; undefined where it cannot be installed. */
function installIkLlama() {
  const environment = join(folder, "python");
  const installed = join(environment, "bin", "python");
  try {
    execFileSync("python3", ["-m", "venv", environment], { stdio: "pipe" });
    execFileSync(installed, ["-m", "pip", "install", "--quiet", "ik-llama-cpp-python==0.1.5"], { stdio: "pipe" });
    return installed;
  } catch (error) {
    console.error(
      `ik_llama.cpp is left out: ${String(error.stderr ?? error)
        .trim()
        .split("\n")
        .at(-1)}`,
    );
    return undefined;
  }
}

async function openIkLlama(path) {
  const script = join(dirname(fileURLToPath(import.meta.url)), "ik-llama.py");
  const child = spawn(python, [script, path, String(threads), String(decodedTokens), JSON.stringify(prompt(0))], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error("ik_llama.cpp ended");
    return JSON.parse(value);
  };
  await answer();
  return {
    close: () => child.stdin.end(),
    round: async () => {
      child.stdin.write("\n");
      return await answer();
    },
  };
}
