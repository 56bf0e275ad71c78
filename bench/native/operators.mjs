// Single operators on shapes that models have: our own engine beside onnxruntime-web, in one process and on one thread each, in turns:
// `npm run bench:operators`, `--only Conv` for those whose name holds it. Ratios are medians of pairs measured one after the other.
import { InferenceSession, Tensor, env } from "onnxruntime-web";
import { EngineModel, detectWasmFeatures, onnxSource, readOnnxModel } from "../../src/engine/index.ts";
import { enableRelaxedSimd } from "../../src/engine/codegen/wasm/v8-flags.ts";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { createRandom } from "../measuring/random.mjs";
import { median, pairedRatios } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";
import { GraphWriter } from "./onnx-bytes.mjs";

const { only = "", rounds = "15" } = readOptions({ only: { type: "string" }, rounds: { type: "string" } });
const budgetMs = 3000; // of one operator
const random = createRandom(7);
const count = (shape) => shape.reduce((all, size) => all * size, 1);
const floats = (shape) => ({ type: "float32", shape, data: Float32Array.from({ length: count(shape) }, () => random() * 2 - 1) });
const whole = (shape, max, type = "int64") => {
  const kinds = { int64: BigInt64Array, int32: Int32Array, uint8: Uint8Array, int8: Int8Array, bool: Uint8Array };
  const convert = type === "int64" ? BigInt : Number;
  return { type, shape, data: kinds[type].from({ length: count(shape) }, () => convert(Math.floor(random() * max))) };
};
const weight = (shape) => ({ constant: floats(shape) });
// Recurrent networks with large weights are chaotic: what differs in the last bit differs in the first 100 steps later.
const gentle = (shape) => ({ constant: { shape, data: floats(shape).data.map((value) => value / 10) } });
const ints = (...values) => ({ constant: { shape: [values.length], data: BigInt64Array.from(values, BigInt) } });

// [name, operator, inputs, attributes, outputs as [type, rank]]; an input that is a constant stands in the model.
const works = [
  [
    "ConvTranspose 256>128, 16 by 8, 200 frames",
    "ConvTranspose",
    [floats([1, 256, 200]), weight([256, 128, 16]), weight([128])],
    { strides: [8], pads: [4, 4] },
  ],
  [
    "ConvTranspose 64>32, 4 by 2, 12800 frames",
    "ConvTranspose",
    [floats([1, 64, 12_800]), weight([64, 32, 4]), weight([32])],
    { strides: [2], pads: [1, 1] },
  ],
  [
    "ConvTranspose 128>64, 2x2 by 2, 64x64",
    "ConvTranspose",
    [floats([1, 128, 64, 64]), weight([128, 64, 2, 2]), weight([64])],
    { strides: [2, 2] },
  ],
  [
    "ConvTranspose 128>64, 4x4 by 2, 64x64",
    "ConvTranspose",
    [floats([1, 128, 64, 64]), weight([128, 64, 4, 4]), weight([64])],
    { strides: [2, 2], pads: [1, 1, 1, 1] },
  ],
  [
    "ConvTranspose 64 by channel, 4x4 by 2, 64x64",
    "ConvTranspose",
    [floats([1, 64, 64, 64]), weight([64, 1, 4, 4])],
    { strides: [2, 2], pads: [1, 1, 1, 1], group: 64 },
  ],
  ["Softmax over axis 1 of 1x21x128x128", "Softmax", [floats([1, 21, 128, 128])], { axis: 1 }],
  ["ReduceMean over 0, 2, 3 of 8x64x56x56", "ReduceMean", [floats([8, 64, 56, 56])], { axes: [0, 2, 3] }, {}, 13],
  ["ReduceSum of int64 32x512", "ReduceSum", [whole([32, 512], 2), ints(1)], {}, { type: "int64" }],
  ["ReduceMax over axis 1 of 8x512x384", "ReduceMax", [floats([8, 512, 384])], { axes: [1] }, {}, 13],
  ["ArgMax of 128x32000", "ArgMax", [floats([128, 32_000])], { axis: 1 }, { type: "int64" }],
  ["ArgMax over axis 1 of 1x21x256x256", "ArgMax", [floats([1, 21, 256, 256])], { axis: 1 }, { type: "int64" }],
  ["CumSum of int64 32x512", "CumSum", [whole([32, 512], 2), ints(1)], {}, { type: "int64" }],
  ["CumSum over axis 0 of 512x384", "CumSum", [floats([512, 384]), ints(0)]],
  ["CumSum of 9x48000", "CumSum", [floats([9, 48_000]), ints(1)]],
  ["TopK 50 of 1x50257", "TopK", [floats([1, 50_257]), ints(50)], {}, { outputs: 2 }],
  ["TopK 300 of 8400, axis 1", "TopK", [floats([1, 8400, 1]), ints(300)], { axis: 1 }, { outputs: 2 }],
  ["TopK 100 of 100x100", "TopK", [floats([100, 100]), ints(100)], {}, { outputs: 2 }],
  ["GatherElements 8x512x384, axis 1", "GatherElements", [floats([8, 512, 384]), whole([8, 512, 384], 512)], { axis: 1 }],
  ["GatherND 512 rows of 768", "GatherND", [floats([8, 128, 768]), whole([512, 2], 8)]],
  ["ScatterElements 512x384", "ScatterElements", [floats([512, 384]), whole([256, 384], 512), floats([256, 384])], { axis: 0 }],
  ["ScatterND 64 rows of 768", "ScatterND", [floats([512, 768]), whole([64, 1], 512), floats([64, 768])]],
  ["Pad reflect 1x64x128x128 by 3", "Pad", [floats([1, 64, 128, 128]), ints(0, 0, 3, 3, 0, 0, 3, 3)], { mode: "reflect" }],
  ["Pad zeros 1x64x128x128 by 3", "Pad", [floats([1, 64, 128, 128]), ints(0, 0, 3, 3, 0, 0, 3, 3)]],
  ["Conv 32>64, 3x3x3, 16x32x32", "Conv", [floats([1, 32, 16, 32, 32]), weight([64, 32, 3, 3, 3])], { pads: [1, 1, 1, 1, 1, 1] }],
  ["MaxPool 2x2x2 by 2, 64x16x56x56", "MaxPool", [floats([1, 64, 16, 56, 56])], { kernel_shape: [2, 2, 2], strides: [2, 2, 2] }],
  [
    "AveragePool 2x2x2 by 2, 64x16x56x56",
    "AveragePool",
    [floats([1, 64, 16, 56, 56])],
    { kernel_shape: [2, 2, 2], strides: [2, 2, 2] },
  ],
  [
    "ConvInteger 64>64, 3x3, 56x56",
    "ConvInteger",
    [whole([1, 64, 56, 56], 256, "uint8"), { constant: whole([64, 64, 3, 3], 100, "int8") }],
    { pads: [1, 1, 1, 1] },
    { type: "int32" },
  ],
  ["Add of int64 32x512", "Add", [whole([32, 512], 2), whole([32, 512], 2)], {}, { type: "int64" }],
  ["Add of int32 1M", "Add", [whole([1024, 1024], 2, "int32"), whole([1024, 1024], 2, "int32")], {}, { type: "int32" }],
  [
    "Resize linear 1x64x64x64 to 128x128",
    "Resize",
    [floats([1, 64, 64, 64]), "", { constant: { shape: [4], data: Float32Array.of(1, 1, 2, 2) } }],
    { mode: "linear" },
  ],
  ["GridSample 1x32x64x64", "GridSample", [floats([1, 32, 64, 64]), floats([1, 64, 64, 2])], {}, {}, 16],
  [
    "LSTM 100 steps, 128>128",
    "LSTM",
    [floats([100, 1, 128]), gentle([1, 512, 128]), gentle([1, 512, 128]), gentle([1, 1024])],
    { hidden_size: 128 },
    { outputs: 1 },
  ],
  [
    "GRU 100 steps, 128>128",
    "GRU",
    [floats([100, 1, 128]), gentle([1, 384, 128]), gentle([1, 384, 128]), gentle([1, 768])],
    { hidden_size: 128 },
    { outputs: 1 },
  ],
];

function modelOf([, operator, given, attributes = {}, { type = "float32", outputs = 1 } = {}, opset = 17]) {
  const graph = new GraphWriter();
  const inputs = {};
  const names = given.map((each, index) => {
    if (each === "") return "";
    if (each.constant !== undefined) return graph.weight(each.constant.shape, each.constant.data);
    inputs[`x${index}`] = each;
    return `x${index}`;
  });
  const results = Array.from({ length: outputs }, (_, index) => `y${index}`);
  graph.named(operator, names, results, attributes);
  const rank = (index) => (index === 1 ? "int64" : type);
  const told = results.map((name, index) => [name, rank(index), undefined]);
  return {
    bytes: graph.bytes(
      Object.entries(inputs).map(([name, each]) => [name, each.type, each.shape]),
      told,
      opset,
    ),
    inputs,
  };
}

const mapped = (object, change) => Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));

env.wasm.numThreads = 1;
const load = watchLoad();
const rows = [];
for (const work of works) {
  const [name] = work;
  if (!name.includes(only)) continue;
  const { bytes, inputs } = modelOf(work);
  const engine = new EngineModel(onnxSource(readOnnxModel(new Uint8Array(bytes), name).model), {
    features: detectWasmFeatures(enableRelaxedSimd),
  });
  const session = await InferenceSession.create(new Uint8Array(bytes), { logSeverityLevel: 4, intraOpNumThreads: 1 });
  const own = mapped(inputs, ({ type, shape, data }) => ({ dataType: type, shape, data }));
  const theirs = mapped(inputs, ({ type, shape, data }) => new Tensor(type, data, shape));
  const timed = async (run) => {
    const before = performance.now();
    const result = await run();
    return [performance.now() - before, result];
  };
  const engines = [() => engine.run(own), () => session.run(theirs)];
  const [[first, mine], [, other]] = [await timed(engines[0]), await timed(engines[1])];
  const difference = Math.max(...Object.keys(other).map((output) => differenceOf(mine[output].data, other[output].data)));
  const warm = first < 500 ? 3 : 0;
  for (const run of engines) for (let each = 0; each < warm; each += 1) await run();
  const times = [[], []];
  const end = performance.now() + budgetMs;
  for (let round = 0; round < Number(rounds) && (round < 2 || performance.now() < end); round += 1)
    for (const at of round % 2 === 0 ? [0, 1] : [1, 0]) times[at].push((await timed(engines[at]))[0]);
  const steps = engine.lastSteps;
  rows.push([
    name,
    ...times.map((each) => median(each).toFixed(3)),
    pairedRatios(times[0], times[1]).median.toFixed(2),
    first.toFixed(0),
    steps === undefined || steps === "interpreted" ? "interpreted" : `${steps.all - steps.interpreted} + ${steps.interpreted}`,
    difference.toExponential(1),
  ]);
  console.error(rows.at(-1).join(" | "));
  await session.release();
}
console.log(`machine  ${describeMachine()}\nload     ${describeLoad(load())}\n`);
console.log(formatTable(["operator", "native ms", "web ms", "ratio", "first ms", "kernels + interpreted", "difference"], rows));

function differenceOf(one, other) {
  let largest = 0;
  for (let index = 0; index < other.length; index += 1) {
    const apart = Math.abs(Number(one[index]) - Number(other[index]));
    if (!(apart <= largest)) largest = apart;
  }
  return largest;
}
