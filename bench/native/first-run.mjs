// What a model costs before it is fast: time of loading it, of its first run and of its sixth, beside onnxruntime-node, on one thread.
// `node bench/native/first-run.mjs MODEL.onnx NAME=SHAPE ...`, for example `x=1x3x320x320` (float32), `x:float16=1x3` or `input_ids:int64=1x128` (ones);
// `--decode HEADS`: a decoder with a cache and that many heads of 64, whose run is a prompt of 16 tokens and one more. `--rounds N` (default 5).
// `--from FOLDER`: another checkout, built, whose engine is measured beside this one.
// Each measurement is a process of its own; medians in milliseconds of processor and wall clock time. The engine runs with an empty data folder of its own
// (`native, first process`) and then with the folder that a process before it has filled (`native, later process`).
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { describeMachine } from "../measuring/machine.mjs";
import { runInChild } from "../measuring/run-in-child.mjs";
import { median } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";

const runs = 6;

if (process.send === undefined) await compare();
else process.once("message", (work) => void measure(work).then((times) => process.send(times, () => process.disconnect())));

async function compare() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: "string", default: "5" },
      decode: { type: "string" },
      from: { type: "string", multiple: true, default: [] },
    },
  });
  const [path, ...given] = positionals;
  if (path === undefined) throw new Error("give a model: node bench/native/first-run.mjs model.onnx x=1x3x224x224");
  const inputs = given.map((each) => {
    const [, name, type = "float32", shape] = /^(.*?)(?::(int64|float16))?=([0-9x]+)$/.exec(each) ?? [];
    if (name === undefined) throw new Error(`${each} is not NAME=SHAPE, NAME:int64=SHAPE or NAME:float16=SHAPE`);
    return [name, type, shape.split("x").map(Number)];
  });
  const engines = [undefined, ...values.from].flatMap((from) =>
    ["first", "later"].map((process) => ({
      name: `native, ${process} process${from === undefined ? "" : ` (${from})`}`,
      from,
      process,
    })),
  );
  engines.push({ name: "onnxruntime-node" });
  const times = new Map(engines.map(({ name }) => [name, []]));
  for (let round = 0; round < Number(values.rounds); round += 1) {
    const folders = new Map();
    for (const { name, from, process: which } of engines) {
      if (which === "first") folders.set(from, mkdtempSync(join(tmpdir(), "inferyard-first-run-")));
      process.env.INFERYARD_HOME = folders.get(from) ?? "";
      const entry =
        from === undefined ? "inferyard/backends/native" : pathToFileURL(resolve(from, "dist/backends-native.js")).href;
      const work = { engine: name.startsWith("native") ? entry : undefined, path, inputs, decode: values.decode };
      times.get(name).push(await runInChild(fileURLToPath(import.meta.url), work, name));
    }
    for (const folder of folders.values()) rmSync(folder, { recursive: true });
  }
  console.log(describeMachine());
  const column = (rows, index, kind) => median(rows.map((row) => row[index][kind])).toFixed(0);
  const both = (rows, kind) => median(rows.map((row) => row[0][kind] + row[1][kind])).toFixed(0);
  console.log(
    formatTable(
      ["processor ms (wall clock)", "load", "first run", "both", "sixth"],
      [...times].map(([engine, rows]) => [
        engine,
        ...[0, 1].map((index) => `${column(rows, index, "processor")} (${column(rows, index, "wall")})`),
        `${both(rows, "processor")} (${both(rows, "wall")})`,
        `${column(rows, runs, "processor")} (${column(rows, runs, "wall")})`,
      ]),
    ),
  );
}

const elements = {
  float32: (length) => Float32Array.from({ length }, (_, index) => Math.sin(index)),
  float16: (length) => Uint16Array.from({ length }, (_, index) => 0x3000 + (index % 0x800)), // 0.125 to 0.5
  int64: (length) => new BigInt64Array(length).fill(1n),
};

async function measure({ engine, path, inputs, decode }) {
  const tensors = inputs.map(([name, type, shape]) => {
    const length = shape.reduce((a, b) => a * b, 1);
    return [name, type, shape, elements[type](length)];
  });
  const load = engine === undefined ? await onnxruntimeEngine(decode) : await nativeEngine(engine, decode);
  const times = [];
  const timed = async (work) => {
    const before = process.cpuUsage();
    const start = performance.now();
    const result = await work();
    const wall = performance.now() - start;
    const { user, system } = process.cpuUsage(before);
    times.push({ processor: (user + system) / 1000, wall });
    return result;
  };
  const run = await timed(() => load(path, tensors));
  for (let index = 0; index < runs; index += 1) await timed(run);
  return times;
}

const prompt = Array.from({ length: 16 }, (_, index) => 5 + index);

async function nativeEngine(entry, decode) {
  const { native } = await import(entry);
  const backend = native();
  const device = { type: "cpu", index: 0 };
  return async (path, inputs) => {
    const files = { path, format: "onnx", bytes: 0, config: {} };
    if (decode === undefined) {
      const model = await backend.load(files, device, { threads: 1 });
      const tensors = Object.fromEntries(inputs.map(([name, dataType, shape, data]) => [name, { dataType, shape, data }]));
      return () => model.run(tensors);
    }
    const model = await backend.loadLanguage(files, device, { threads: 1 });
    return async () => {
      const sequence = await model.createSequence();
      await model.decode([{ sequence, tokens: prompt, logits: 1 }]);
      await model.decode([{ sequence, tokens: [7], logits: 1 }]);
      await model.releaseSequence(sequence);
    };
  };
}

async function onnxruntimeEngine(decode) {
  const { default: ort } = await import("onnxruntime-node");
  return async (path, inputs) => {
    const session = await ort.InferenceSession.create(path, { intraOpNumThreads: 1, logSeverityLevel: 4 });
    const tensors = Object.fromEntries(
      inputs.map(([name, dataType, shape, data]) => [name, new ort.Tensor(dataType, data, shape)]),
    );
    if (decode === undefined) return () => session.run(tensors);
    const integers = (values) => new ort.Tensor("int64", BigInt64Array.from(values, BigInt), [1, values.length]);
    const states = session.inputNames.filter((name) => name.startsWith("past"));
    const append = (tokens, past, length) =>
      session.run({
        input_ids: integers(tokens),
        attention_mask: integers(Array.from({ length: length + tokens.length }, () => 1)),
        position_ids: integers(tokens.map((_, index) => length + index)),
        ...past,
      });
    return async () => {
      const empty = new ort.Tensor("float32", new Float32Array(), [1, Number(decode), 0, 64]);
      const results = await append(prompt, Object.fromEntries(states.map((name) => [name, empty])), 0);
      await append(
        [7],
        Object.fromEntries(states.map((name) => [name, results[name.replace("past_key_values", "present")]])),
        prompt.length,
      );
    };
  };
}
