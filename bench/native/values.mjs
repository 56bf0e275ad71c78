// Models whose shapes or way depend on values: as our engine runs them, as its interpreter does (which is how it ran them whole before), and
// onnxruntime-web and -node beside them. One thread. `npm run bench:values`; medians of `--runs N` (default 20), in milliseconds.
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import * as node from "onnxruntime-node";
import * as web from "onnxruntime-web";
import { enableRelaxedSimd } from "../../src/engine/codegen/wasm/v8-flags.ts";
import { Builder, detectWasmFeatures, EngineModel, onnxSource, readOnnxModel, traceModel } from "../../src/engine/index.ts";
import { zeros } from "../../src/contract/tensor.ts";
import { withSuppression } from "../../test/engine/fixtures/detector.ts";
import { branchFile, loopFile, wordsFile } from "../../test/engine/fixtures/value-shapes.ts";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { sharedPath } from "../measuring/shared-data.mjs";
import { median } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";

const { values } = parseArgs({ options: { runs: { type: "string", default: "20" } } });
const runs = Number(values.runs);
web.env.wasm.numThreads = 1;
web.env.logLevel = node.env.logLevel = "error";

const floats = (shape, seed = 0) => {
  const length = shape.reduce((product, size) => product * size, 1);
  return { dataType: "float32", shape, data: Float32Array.from({ length }, (_, at) => Math.sin(at * 0.37 + seed)) };
};
const count = (number) => ({ dataType: "int64", shape: [], data: BigInt64Array.of(BigInt(number)) });
const detector = withSuppression(readFileSync(`${sharedPath("vision")}/version-RFB-320_simplified.onnx`), 0.05);

// `inputs` by the number of the run: some are others each time, as they would be.
const works = [
  {
    name: "RFB-320, the same picture",
    bytes: detector,
    inputs: () => ({ input: floats([1, 3, 240, 320]) }),
  },
  {
    name: "RFB-320, another picture each time",
    bytes: detector,
    inputs: (run) => ({ input: floats([1, 3, 240, 320], run) }),
  },
  { name: "loop of 20 rounds", bytes: loopFile(), inputs: () => ({ x: floats([16, 256]), n: count(20) }) },
  {
    name: "loop of 10 to 19 rounds",
    bytes: loopFile(),
    inputs: (run) => ({ x: floats([16, 256]), n: count(10 + (run % 10)) }),
  },
  { name: "branch", bytes: branchFile(), inputs: (run) => ({ x: floats([16, 256], run) }) },
  {
    name: "words before a network",
    bytes: wordsFile(),
    inputs: () => ({ words: { dataType: "string", shape: [16], data: Array.from({ length: 16 }, (_, at) => "abcd"[at % 4]) } }),
  },
  ...["tiny-random-t5", "tiny-random-whisper"].map(merged),
];

// One step behind a past of 15 tokens.
function merged(folder) {
  const bytes = readFileSync(`${sharedPath(folder)}/onnx/decoder_model_merged.onnx`);
  const { model } = readOnnxModel(bytes, folder);
  const sizeOf = (size) => (typeof size === "number" ? size : /past/.test(size) ? 15 : /encoder/.test(size) ? 32 : 1);
  const given = model.graph.inputs.map(({ name, type }) => {
    const tensor = zeros(type.dataType, type.shape.map(sizeOf));
    if (type.dataType === "float32") return [name, floats(tensor.shape)];
    return [name, { ...tensor, data: tensor.data.fill(type.dataType === "int64" ? 1n : 1) }];
  });
  return { name: `${folder}, merged decoder`, bytes, inputs: () => Object.fromEntries(given) };
}

async function timed(run, inputs) {
  const start = performance.now();
  await run(inputs);
  return performance.now() - start;
}

function interpreter(bytes) {
  const { model } = readOnnxModel(bytes, "a model");
  return (inputs) => {
    const build = new Builder({}, "eager");
    return traceModel(model, new Map(Object.entries(inputs).map(([name, each]) => [name, build.constant(each)])), build);
  };
}

async function peer({ InferenceSession, Tensor }, bytes) {
  const session = await InferenceSession.create(bytes, { intraOpNumThreads: 1, logSeverityLevel: 3 });
  return (inputs) =>
    session.run(
      Object.fromEntries(
        Object.entries(inputs).map(([name, { dataType, shape, data }]) => [name, new Tensor(dataType, data, shape)]),
      ),
    );
}

const load = watchLoad();
const rows = [];
for (const { name, bytes, inputs } of works) {
  const engine = new EngineModel(onnxSource(readOnnxModel(bytes, name).model), {
    features: detectWasmFeatures(enableRelaxedSimd),
  });
  const engines = [(given) => engine.run(given), await peer(web, bytes), await peer(node, bytes)];
  const first = await timed(engines[0], inputs(0));
  const times = engines.map(() => []);
  // What is met for the first time in a run is measured as well, and so every number of the loop's rounds is met once before.
  for (let run = 0; run < runs + 10; run += 1) {
    for (const [index, each] of engines.entries()) {
      const time = await timed(each, inputs(run));
      if (run >= 10) times[index].push(time);
    }
  }
  const interpret = interpreter(bytes);
  const slow = [];
  for (let run = 0; run < 3; run += 1) slow.push(await timed(interpret, inputs(run)));
  const [own, inWeb, inNode] = times.map(median);
  rows.push([name, median(slow), own, first, inWeb, inNode].map((each) => (typeof each === "number" ? each.toFixed(2) : each)));
  rows.at(-1).push(engine.describe());
  await engine.dispose();
}
console.log(describeMachine());
console.log(
  formatTable(["", "interpreted", "native", "its first run", "onnxruntime-web", "onnxruntime-node", "native's last run"], rows),
);
console.log(describeLoad(load()));
