// What a model costs before it is fast: processor time of loading it, of its first run and of its sixth, beside onnxruntime-node, on one thread.
// `node bench/native/first-run.mjs MODEL.onnx NAME=SHAPE ...`, for example `x=1x3x320x320` (float32 inputs); `--rounds N` (default 5). Each
// measurement is a process of its own; medians in milliseconds.
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { describeMachine } from "../measuring/machine.mjs";
import { runInChild } from "../measuring/run-in-child.mjs";
import { median } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";

const runs = 6;

if (process.send === undefined) await compare();
else process.once("message", (work) => void measure(work).then((times) => process.send(times, () => process.disconnect())));

async function compare() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { rounds: { type: "string", default: "5" } } });
  const [path, ...given] = positionals;
  if (path === undefined) throw new Error("give a model: node bench/native/first-run.mjs model.onnx x=1x3x224x224");
  const shapes = Object.fromEntries(
    given.map((each) => each.split("=")).map(([name, shape]) => [name, shape.split("x").map(Number)]),
  );
  const engines = ["native", "onnxruntime-node"];
  const times = new Map(engines.map((engine) => [engine, []]));
  for (let round = 0; round < Number(values.rounds); round += 1)
    for (const engine of engines)
      times.get(engine).push(await runInChild(fileURLToPath(import.meta.url), { engine, path, shapes }, engine));
  console.log(describeMachine());
  const columns = (rows) => [0, 1, runs].map((index) => median(rows.map((row) => row[index])).toFixed(0));
  console.log(
    formatTable(
      ["processor ms", "load", "first run", "sixth"],
      [...times].map(([engine, rows]) => [engine, ...columns(rows)]),
    ),
  );
}

async function measure({ engine, path, shapes }) {
  const inputs = Object.entries(shapes).map(([name, shape]) => [
    name,
    shape,
    Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, (_, index) => Math.sin(index)),
  ]);
  const start = engine === "native" ? await nativeEngine() : await onnxruntimeEngine();
  const times = [];
  const timed = async (work) => {
    const before = process.cpuUsage();
    const result = await work();
    const { user, system } = process.cpuUsage(before);
    times.push((user + system) / 1000);
    return result;
  };
  const run = await timed(() => start(path, inputs));
  for (let index = 0; index < runs; index += 1) await timed(run);
  return times;
}

async function nativeEngine() {
  const { native } = await import("inferyard/backends/native");
  const backend = native();
  return async (path, inputs) => {
    const model = await backend.load({ path, format: "onnx", bytes: 0 }, { type: "cpu", index: 0 }, { threads: 1 });
    const tensors = Object.fromEntries(inputs.map(([name, shape, data]) => [name, { dataType: "float32", shape, data }]));
    return () => model.run(tensors);
  };
}

async function onnxruntimeEngine() {
  const { default: ort } = await import("onnxruntime-node");
  return async (path, inputs) => {
    const session = await ort.InferenceSession.create(path, { intraOpNumThreads: 1, logSeverityLevel: 4 });
    const tensors = Object.fromEntries(inputs.map(([name, shape, data]) => [name, new ort.Tensor("float32", data, shape)]));
    return () => session.run(tensors);
  };
}
