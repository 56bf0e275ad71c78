/** What each flag of the command line does, for test/cli/every-flag.test.ts: a command line that it stands on, its value, and where that arrives. */
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tinyGraph } from "../../../src/backends/onnxruntime/tiny-graph.ts";
import { machoLibrary, packaged } from "../../libraries/fixtures/native-libraries.ts";
import { type Arrival, type CommandRows, type FlagRow, type Values, sets } from "./flag-row.ts";
import { mediaRows } from "./media-rows.ts";
import { serverRows } from "./server-rows.ts";
import { generatingRows, textRows } from "./task-rows.ts";

const { privateKey, publicKey } = generateKeyPairSync("ed25519", {
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});
const digest = "a".repeat(64);
/** That of the model of recorded-library.ts. */
const builtin = fileURLToPath(new URL("../../../builtin/model.safetensors", import.meta.url));
const answer = Buffer.from(Float32Array.of(0.5, 1).buffer).toString("base64");

/** Writes the files that flags name. */
export function prepareFiles(folder: string): void {
  const files = {
    "texts.txt": "from a file\n",
    "schema.json": '{ "type": "integer" }',
    "grammar.gbnf": 'root ::= "a"',
    "messages.json": '[{ "role": "user", "content": "a text" }]',
    "template.jinja": "{{ messages[0].content }}",
    "tools.json": '[{ "name": "clock" }]',
    "key.pem": privateKey,
    "public.pem": publicKey,
    "answers.json": JSON.stringify({ items: [{ text: "a", embedding: answer }] }),
    "receipt.json": "{}",
    "keys.yaml": `- { name: filed, sha256: ${digest}, role: reader }\n`,
    "model.onnx": Buffer.from(tinyGraph, "base64"),
    "libtiny.dylib": machoLibrary(0x0100000c),
    "sound.wav": "a sound",
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
}

/** What the flags of loading set in the runtime, by flag. */
const loadSettings: Readonly<Record<string, readonly [value: string, settings: Values]>> = {
  "--target": ["native", { target: ["native"] }],
  "--prefer": ["native,wasm", { prefer: ["native", "wasm"] }],
  "--exclude": ["onnx", { exclude: ["onnx"] }],
  "--gpu": ["cuda", { gpu: "cuda" }],
  "--policy": ["manifest", { policy: "manifest" }],
  "--priority": ["native,onnx", { priority: ["native", "onnx"] }],
  "--threads": ["1", { threads: 1 }],
  "--graph-optimization": ["basic", { graphOptimization: "basic" }],
  "--cpu-nodes": ["allow", { cpuNodes: "allow" }],
  "--memory-pattern": ["false", { memoryPattern: false }],
  "--memory-arena": ["false", { memoryArena: false }],
  "--machine-code": ["avx2", { machineCode: "avx2" }],
  "--context-length": ["64", { contextLength: 64 }],
  "--allow-smaller-context": ["true", { allowSmallerContext: true }],
  "--cache-precision": ["fp16", { cachePrecision: "fp16" }],
  "--i2s-layout": ["arm", { i2sLayout: "arm" }],
  "--kernels": ["Q4_K_Scalar", { kernels: ["Q4_K_Scalar"] }],
  "--tl-tiles": ["8x8=1/2/3", { tlTiles: ["8x8=1/2/3"] }],
  "--adapters": ["adapter.gguf=0.5", { adapters: [{ path: "adapter.gguf", scale: 0.5 }] }],
  "--host": ["worker", { host: "worker" }],
  "--max-memory": ["1KB", { maxMemory: "1KB" }],
  "--library": ["/none/libllama.so", { library: "/none/libllama.so" }],
  "--replicas": ["3", { replicas: 3 }],
  "--offline": ["", { offline: true }],
};

/** The flag of the user's own library on commands that load no model. */
const [libraryPath, librarySettings] = loadSettings["--library"] ?? ["", {}];
const ownLibrary = { "--library": { value: [libraryPath], arrives: { settings: librarySettings } } };

/** Calls that are told the variant, where it is not the last one alone. */
const variantCalls: Readonly<Record<string, readonly string[]>> = {
  chat: ["load"],
  run: ["load"],
  compile: ["manifest", "load"],
  distill: ["load"],
  verify: ["verifyModel"],
  bench: ["manifest", "benchmarkModel"],
  tune: ["manifest", "tuneModel"],
  explain: ["explain"],
  show: ["explain"],
  serve: ["createHandler"],
};

/** The rows of the flags of loading. */
export function loadRows(name: string): Readonly<Record<string, FlagRow>> {
  const words = (value: string): string[] => (value === "" ? [] : [value]);
  if (name === "config") {
    const settings = Object.entries(loadSettings).map(([flag, [value]]) => [flag, { value: words(value), shows: true }]);
    return Object.fromEntries([...settings, ["--variant", { value: ["int8"], shows: true }]]);
  }
  const settings = Object.entries(loadSettings).map(([flag, [value, arrive]]) => [
    flag,
    { value: words(value), arrives: { settings: arrive } },
  ]);
  const calls = variantCalls[name];
  const variant = { variant: "int8" };
  const arrives: Arrival =
    calls === undefined ? { request: variant } : { requests: Object.fromEntries(calls.map((call) => [call, variant])) };
  return Object.fromEntries([...settings, ["--variant", { value: ["int8"], arrives }]]);
}

/** The rows of each command's own flags. `folder`: where `prepareFiles` wrote. */
export function commandRows(folder: string): Readonly<Record<string, CommandRows>> {
  const file = (name: string): string => join(folder, name);
  return {
    ...textRows(file),
    ...generatingRows(file),
    ...mediaRows(file),
    serve: serverRows(file),
    health: {
      on: ["--port", "1"],
      flags: {
        "--address": { value: ["127.0.0.9"], refused: /127\.0\.0\.9:1\// },
        "--port": { on: ["--address", "127.0.0.9"], value: ["1"], refused: /127\.0\.0\.9:1\// },
      },
    },
    run: {
      on: ["m", "--input", "x=[1]"],
      flags: {
        "--input": {
          on: ["m"],
          value: ["x=[1,2]"],
          sees: ({ calls }) => calls,
        },
        "--output": sets(["y", "--output", "z"], { outputs: ["y", "z"] }),
        "--npy": { value: ["tensors"], plain: true, writes: join("tensors", "y.npy") },
      },
    },
    inspect: {
      on: [file("model.onnx")],
      flags: {
        "--tensors": { on: [builtin], value: [], plain: true, shows: true },
        "--context": sets(["128"], { context: 128 }),
        "--graph": { value: [], arrives: { verb: "graphText" } },
        "--stablehlo": { value: [], arrives: { verb: "graphText" } },
        "--shape": { on: [file("model.onnx"), "--graph"], value: ["x=5"], sees: ({ calls }) => calls },
      },
    },
    explain: { on: ["m"], flags: {} },
    compile: {
      on: ["m"],
      flags: {
        "--target": { value: ["xla:cpu"], arrives: { settings: { target: ["xla:cpu"] } } },
        "--shapes": { value: ["4"], sees: ({ calls }) => calls },
        "--context": { value: ["64"], refused: /--context is for language models/ },
        "--sequences": { value: ["2"], refused: /--sequences is for language models/ },
        "--list": { on: [], value: [], shows: true },
        "--remove": { on: [], value: ["all"], shows: true },
      },
    },
    show: { on: ["builtin"], flags: {} },
    verify: {
      on: ["m"],
      flags: {
        "--target": targetFlag,
        "--answers": {
          value: [file("answers.json")],
          arrives: { request: { answers: [{ text: "a", embedding: Float32Array.of(0.5, 1), tolerance: 1e-5 }] } },
        },
        "--tolerance": {
          on: ["m", "--answers", file("answers.json")],
          value: ["3"],
          arrives: { request: { answers: [{ text: "a", embedding: Float32Array.of(0.5, 1), tolerance: 3 }] } },
        },
      },
    },
    crossval: {
      on: ["--model", "m", "--against", "native"],
      flags: {
        "--model": sets(["other"], { model: "other" }),
        "--target": sets(["onnx:cpu"], { target: ["onnx:cpu"] }),
        "--against": sets(["wasm"], { against: "wasm" }),
        "--against-model": sets(["other"], { againstModel: "other" }),
        "--against-variant": sets(["int8"], { againstVariant: "int8" }),
        "--threads": { value: ["1"], arrives: { settings: { threads: 1 }, request: { threads: 1 } } },
        "--prompt": { ...sets(["small"], { prompt: "small" }), last: true },
        "--prompt-file": { ...sets([file("texts.txt")], { prompt: "from a file" }), last: true },
        "--tokens": sets(["3"], { tokens: 3 }),
        "--continuation": sets(["jump"], { continuation: "jump" }),
        "--record": sets(["logits.safetensors"], { record: "logits.safetensors" }),
        "--max-error": sets(["0.5"], { maxError: 0.5 }),
        "--min-cosine": sets(["0.9"], { minCosine: 0.9 }),
      },
    },
    receipt: {
      on: ["--model", "m", "--output", "run.json"],
      flags: {
        "--model": sets(["other"], { model: "other" }),
        "--output": { on: ["--model", "m"], value: ["run.json"], required: true, writes: "run.json" },
        "--prompt": sets(["small"], { prompt: "small" }),
        "--prompt-file": sets([file("texts.txt")], { prompt: "from a file" }),
        "--tokens": sets(["3"], { tokens: 3 }),
        "--sign": sets([file("key.pem")], { privateKey }),
      },
    },
    "verify-receipt": {
      on: [file("receipt.json")],
      flags: {
        "--key": sets([file("public.pem")], { publicKey }),
        "--model": sets(["m"], { model: "m" }),
        "--library": sets(["libllama.so"], { library: "libllama.so" }),
        "--require-kernel": sets(["I2S_*,Q4_*"], { requireKernels: ["I2S_*", "Q4_*"] }),
      },
    },
    pull: {
      on: ["hf:owner/model"],
      flags: { "--variant": sets(["int8"], { variant: "int8" }), "--offline": sets([], { offline: true }) },
    },
    backends: {
      on: [],
      flags: {
        "--run": sets([], { run: true }),
        "--verbose": { value: [], plain: true, shows: true },
        "--installed": { value: [], plain: true, shows: true },
        "--accelerator": sets(["cuda13"], { accelerator: "cuda13" }, ["install", "xla"]),
        "--from": sets(["plugin.whl"], { from: "plugin.whl" }, ["install", "xla"]),
        "--offline": sets([], { offline: true }, ["install", "xla"]),
        ...ownLibrary,
      },
    },
    doctor: {
      on: [],
      flags: { "--full": sets([], { full: true }), "--verbose": { value: [], plain: true, shows: true }, ...ownLibrary },
    },
    "analyze-library": {
      on: [file("libtiny.dylib")],
      flags: {
        "--symbols": { on: [packaged.onnxRuntime], value: [], plain: true, shows: true },
        "--require": { value: ["cuda"], refused: /cuda/i },
        "--forbid": { value: ["darwin"], refused: /darwin/i },
      },
    },
    libraries: {
      on: [],
      flags: {
        "--python": sets([folder], { python: folder }),
        "--all": { value: [], plain: true, shows: true },
        "--emit": { value: ["flags.json"], writes: "flags.json" },
        "--accelerators": { value: [], arrives: { verb: "listAccelerators" } },
        "--run": { on: ["--accelerators"], value: [], arrives: { verb: "backends" } },
        "--contract": {
          on: ["verify", file("model.onnx")],
          value: ["bitnet"],
          arrives: { verb: "validateLibrary" },
        },
      },
    },
    kernels: {
      on: [],
      flags: { "--bench": sets([], { bench: true }), "--format": sets(["i2_s"], { formats: ["I2_S"] }) },
    },
    distill: {
      on: ["m", "--out", "distilled"],
      flags: {
        "--dimensions": sets(["12"], { dimensions: 12 }),
        "--bits": sets(["4"], { bits: 4 }),
        "--text": sets([file("texts.txt")], { text: ["from a file"], provenance: { teacher: "m", texts: ["texts.txt"] } }),
        "--out": sets(["elsewhere"], { output: "elsewhere" }),
        "--name": sets(["another"], { name: "another" }),
        "--replace": sets([], { replace: true }),
        "--passes": sets(["1"], { passes: 1 }),
      },
    },
    build: {
      on: ["program.mjs", "--backends", "native"],
      flags: {
        "--backends": sets(["cpu,openmp"], {
          backends: { included: ["native", "blas"], left: ["xla", "cuda", "onnx", "llamacpp", "wasm", "library"], notes: [] },
        }),
        "--out": sets(["bundle"], { out: "bundle" }),
      },
    },
    pack: {
      on: ["folder"],
      flags: {
        "--out": sets(["other.aimod"], { output: "other.aimod" }),
        "--name": sets(["another"], { name: "another" }),
        "--replace": sets([], { replace: true }),
      },
    },
    quantize: {
      on: ["model.gguf", "--to", "q8_0"],
      flags: {
        "--to": sets(["q4_0"], { to: "q4_0" }),
        "--out": sets(["second.gguf"], { output: "second.gguf" }),
        "--replace": sets([], { replace: true }),
      },
    },
    optimize: {
      on: ["model.onnx"],
      flags: {
        "--backend": sets(["blas"], { backend: "blas" }),
        "--budget": sets(["5s"], { budget: "5s" }),
        "--size": sets(["batch=4", "--size", "tokens=16"], { sizes: { batch: 4, tokens: 16 } }),
        "--max-memory": sets(["1KB"], { maxMemory: 1000 }),
        "--fresh": sets([], { fresh: true }),
        "--out": sets(["second.onnx"], { output: "second.onnx" }),
        "--replace": sets([], { replace: true }),
      },
    },
    bench: {
      on: ["m"],
      flags: {
        ...measuringFlags,
        "--targets": sets(["native"], { target: ["native"] }),
        "--record": sets([], { record: true }),
        "--batch-tokens": sets(["64"], { batchTokens: 64 }),
      },
    },
    tune: {
      on: ["builtin"],
      flags: {
        ...measuringFlags,
        "--only": sets(["threads"], { only: ["threads"] }),
        "--write": { value: [], writes: "inferyard.yaml" },
        // They are what is sought.
        "--threads": { value: ["1"], refused: /tune tries values of threads itself/ },
        "--replicas": { value: ["2"], refused: /tune tries values of replicas itself/ },
        "--batch-tokens": { value: ["64"], refused: /tune tries values of batchTokens itself/ },
      },
    },
  };
}

/** A flag that holds for the runtime, and names the targets that must pass. */
const targetFlag: FlagRow = {
  value: ["onnx:cpu"],
  arrives: { settings: { target: ["onnx:cpu"] }, request: { target: ["onnx:cpu"] } },
};

/** Flags of the commands that measure. */
const measuringFlags: Readonly<Record<string, FlagRow>> = {
  "--target": targetFlag,
  "--rounds": sets(["4"], { rounds: 4 }),
  "--count": sets(["9"], { count: 9 }),
};
