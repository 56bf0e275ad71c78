// How fast the generated WebAssembly kernels are on one thread, products as a share of the multiply-add peak that a generated loop
// reaches on this machine in the same minute. Run with `npm run bench:generated-kernels`; `--quick` takes a third of the time.
import { f32x4, v128 } from "../../src/engine/codegen/wasm/assembler/vector.ts";
import {
  batchedMatmul,
  byteMatmul,
  compileKernels,
  conv2d,
  detectWasmFeatures,
  elementwise,
  integerMatmul,
  kernelFunction,
  matmul,
  norm,
  quantizationRange,
  quantize,
  quantizeRows,
  resolveWindow,
  softmax,
  stridedCopy,
  wasmHost,
  wasmPageBytes,
} from "../../src/engine/codegen/wasm/index.ts";
import { defineKernel } from "../../src/engine/codegen/wasm/kernel.ts";
import { enableRelaxedSimd, withOptimizingCompiler } from "../../src/engine/codegen/wasm/v8-flags.ts";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { summary } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";

const aim = 0.85; // of the peak, products of 128 rows
const { quick = false, json = false } = readOptions({ quick: { type: "boolean" }, json: { type: "boolean" } });
const batchOperations = 5e7; // about a millisecond
const budgetMs = quick ? 150 : 450; // for each row of the table
const features = detectWasmFeatures(enableRelaxedSimd);
const memory = new (wasmHost().Memory)({ initial: (320 * 2 ** 20) / wasmPageBytes });
new Float32Array(memory.buffer).fill(0.01);

// m x k x n
const shapes = [
  [128, 384, 384],
  [128, 384, 1536],
  [128, 1536, 384],
  [16, 384, 384],
  [16, 1536, 384],
  [512, 512, 512],
  [1024, 1024, 1024],
  [4096, 384, 384],
  [127, 384, 383],
  [1, 384, 1536],
  [1, 4096, 4096],
];

// MiniLM's attention at 128 tokens: 12 heads of 32, interleaved in rows of 384.
const [tokens, heads, headSize, width] = [128, 12, 32, 384];
const interleaved = { row: width, column: 1, batch: [headSize] };
const scores = { row: tokens, column: 1, batch: [tokens * tokens] };
const queriesOf128 = { m: tokens, batch: [heads], a: interleaved };

const load = watchLoad();
const peak = measurePeak();
const products = [
  ...shapes.map(([m, k, n]) => measureProduct(`${m} x ${k} x ${n}`, matmul({ m, n, k }), 2 * m * n * k)),
  measureProduct(
    "128 x 384 x 1536, gelu",
    matmul({ m: 128, n: 1536, k: 384, bias: true, activation: "gelu" }),
    2 * 128 * 384 * 1536,
  ),
  measureProduct(
    "scores, 12 x 128 x 32 x 128",
    batchedMatmul({ ...queriesOf128, n: tokens, k: headSize, b: { row: 1, column: width, batch: [headSize] }, c: scores }),
    2 * heads * tokens * tokens * headSize,
  ),
  measureProduct(
    "context, 12 x 128 x 128 x 32",
    batchedMatmul({ ...queriesOf128, a: scores, n: headSize, k: tokens, b: interleaved, c: interleaved }),
    2 * heads * tokens * tokens * headSize,
  ),
  measureProduct(
    "one query, 12 x 1 x 32 x 1024",
    batchedMatmul({
      m: 1,
      n: 1024,
      k: headSize,
      batch: [heads],
      a: interleaved,
      b: { row: 1, column: width, batch: [headSize] },
      c: { row: 1024, column: 1, batch: [1024] },
    }),
    2 * heads * 1024 * headSize,
  ),
  ...[
    [64, 64, 56, 3, 1],
    [256, 256, 14, 3, 1],
    [512, 512, 7, 3, 1],
    [64, 256, 56, 1, 1],
    [3, 64, 224, 7, 2],
  ].map(([inputs, outputs, side, size, stride]) => measureConvolution(inputs, outputs, side, size, stride)),
  ...[
    [128, 384, 384],
    [128, 384, 1536],
    [128, 1536, 384],
    [16, 384, 384],
  ].flatMap(([m, k, n]) => {
    const output = { bScale: "tensor", bias: true };
    // Rows and panels whose norms are 0 are summed in 16 bits; those whose norms are large are not.
    const zeros = ([a, b]) => [a, b].forEach((at) => new Uint8Array(memory.buffer, at, 8_000_000).fill(0));
    const large = ([a, b]) => [a, b].forEach((at) => new Int32Array(memory.buffer, at, 2_000_000).fill(1000));
    return [
      measureProduct(`${m} x ${k} x ${n}, int8, small sums`, byteMatmul({ m, n, k, output }), 2 * m * n * k, zeros),
      measureProduct(`${m} x ${k} x ${n}, int8, large sums`, byteMatmul({ m, n, k, output }), 2 * m * n * k, large),
      measureProduct(`${m} x ${k} x ${n}, int8, any weights`, integerMatmul({ m, n, k, weightBytes: 1, output }), 2 * m * n * k),
    ];
  }),
];
const passes = [
  ["softmax, 1536 x 128", softmax({ shape: [heads * tokens, tokens], scale: 0.1 })],
  ...[
    [128, 128],
    [512, 512],
    [1, 1024],
  ].flatMap(([queries, keys]) => attentions(queries, keys)),
  [
    "layer norm + residual, 128 x 384",
    norm({ rows: 128, columns: 384, kind: "layer", epsilon: 1e-5, gamma: true, beta: true, residual: true }),
  ],
  ...["add", "gelu", "exp", "tanh"].map((op) => [`${op}, 128 x 1536`, chain(op)]),
  ["quantise to rows, 128 x 384", quantizeRows({ rows: 128, columns: 384 })],
  ["quantise, 128 x 384", quantize({ rows: 128, columns: 384 })],
  ["range, 49152", quantizationRange({ rows: 1, columns: 49_152 })],
  ["transpose, 512 x 512", stridedCopy({ shape: [512, 512], from: [1, 512], to: [512, 1], elementBytes: 4 })],
].map(([name, kernel]) => measurePass(name, kernel));
report({ machine: describeMachine(), load: load(), features, peak, products, passes });

// MiniLM's heads: the three kernels of attention.
function attentions(queries, keys) {
  const [rows, flipped] = [interleaved, { ...interleaved, row: 1, column: width }];
  const table = { row: keys, column: 1, batch: [queries * keys] };
  const name = `${heads} heads, ${queries} x ${keys}`;
  return [
    [`scores, ${name}`, batchedMatmul({ batch: [heads], m: queries, n: keys, k: headSize, a: rows, b: flipped, c: table })],
    [`softmax, ${name}`, softmax({ shape: [heads * queries, keys] })],
    [`context, ${name}`, batchedMatmul({ batch: [heads], m: queries, n: headSize, k: keys, a: table, b: rows, c: rows })],
  ];
}

function chain(op) {
  const of = op === "add" ? [0, 0] : [0];
  return elementwise({ shape: [128 * 1536], inputs: [{ type: "float32" }], steps: [{ op, of }], output: "float32" });
}

function measureConvolution(inChannels, outChannels, side, size, stride) {
  const pad = (size - 1) / 2;
  const window = { input: [side, side], size: [size, size], strides: [stride, stride], pads: [pad, pad, pad, pad] };
  const kernel = conv2d({ batch: 1, inChannels, outChannels, window, bias: true, activation: "relu" });
  const [height, width] = resolveWindow(window).output;
  const name = `conv ${inChannels} to ${outChannels}, ${side} x ${side}, ${size} x ${size} / ${stride}`;
  return measureProduct(name, kernel, 2 * height * width * outChannels * inChannels * size * size);
}

// Twelve independent sums, each multiplied and added to once a round: enough for two units of four cycles' latency.
function measurePeak() {
  const sums = 12;
  const rounds = 100_000;
  const kernel = defineKernel({
    family: "peak",
    request: {},
    inputs: [],
    outputs: ["out"],
    pieces: rounds,
    pieceNanoseconds: 1,
    emit(f, { out }, from, to) {
      const factor = f.value(v128.load(out));
      const values = Array.from({ length: sums }, () => f.value(v128.load(out)));
      f.range(from, to, 1, () => values.forEach((sum) => f.set(sum, f.madd(factor, factor, sum))));
      f.run(
        v128.store(
          out,
          values.reduce((all, value) => f32x4.add(all, value)),
        ),
      );
    },
  });
  const run = compiled(kernel);
  return measure(() => run(0, 0, rounds), rounds * sums * 8);
}

function measureProduct(name, kernel, operations, prepare) {
  return { name, ...measure(callOf(kernel, prepare), operations) };
}

function measurePass(name, kernel) {
  const { median, max } = measure(callOf(kernel), 1e6); // a million operations per nanosecond are one call in a millisecond
  return { name, medianMicroseconds: 1e3 / median, minMicroseconds: 1e3 / max };
}

function callOf(kernel, prepare = () => {}) {
  const run = compiled(kernel);
  const step = Math.floor(memory.buffer.byteLength / (kernel.parameters.length + 1) / 4096) * 4096;
  const offsets = kernel.parameters.map((_, index) => 4096 + index * step + index * 1088); // not all at the same place of the caches' sets
  prepare(offsets);
  return () => run(...kernel.dynamicSizes, ...offsets, 0, kernel.pieces);
}

function compiled(kernel) {
  const { functions } = withOptimizingCompiler(() => compileKernels([kernel], memory, features));
  return kernelFunction(functions, kernel);
}

// In operations per nanosecond, which are GFLOP/s. Time is the processor time of this process, so that what others run at the same moment
// counts only through the caches. The first calls do not count.
function measure(work, operations) {
  for (const started = performance.now(); performance.now() - started < 30;) work();
  const calls = Math.max(1, Math.ceil(batchOperations / operations));
  const rates = [];
  for (const started = performance.now(); performance.now() - started < budgetMs || rates.length < 5;) {
    const before = processorMicroseconds();
    for (let call = 0; call < calls; call += 1) work();
    rates.push((operations * calls) / (processorMicroseconds() - before) / 1e3);
  }
  const { median, max } = summary(rates);
  return { median, max };
}

function processorMicroseconds() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

function report(result) {
  if (json) {
    console.log(JSON.stringify(result, null, 2));
    return;
  }
  const share = (rate, of) => `${((rate / of) * 100).toFixed(0)} %`;
  console.log(`machine  ${result.machine}\nload     ${describeLoad(result.load)}`);
  console.log(
    `peak     ${peak.max.toFixed(1)} GFLOP/s at best, ${peak.median.toFixed(1)} median, relaxed SIMD ${features.relaxedSimd ? "on" : "off"}\n`,
  );
  const rows = products.map(({ name, median, max }) => [
    name,
    median.toFixed(1),
    share(median, peak.median),
    max.toFixed(1),
    share(max, peak.max),
  ]);
  console.log(formatTable(["product, m x k x n (GFLOP/s; int8: GOP/s)", "median", "of peak", "best", "of peak"], rows));
  const times = passes.map(({ name, medianMicroseconds, minMicroseconds }) => [
    name,
    medianMicroseconds.toFixed(1),
    minMicroseconds.toFixed(1),
  ]);
  console.log(`\n${formatTable(["pass, microseconds", "median", "min"], times)}`);
  console.log(`\naim: ${aim * 100} % of the peak for 128 rows (best against best: others' work on the machine slows both)`);
}
