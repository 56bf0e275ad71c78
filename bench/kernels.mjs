// How fast the generated WebAssembly kernels are on one thread, products as a share of the multiply-add peak that a generated loop
// reaches on this machine in the same minute. Run with `npm run bench:kernels`; `--quick` takes a third of the time.
import { f32x4, v128 } from "../src/engine/emit/wasm/assembler/vector.ts";
import {
  compileKernels,
  detectWasmFeatures,
  kernelFunction,
  matmul,
  packedMatmulLength,
  wasmHost,
  wasmPageBytes,
} from "../src/engine/emit/wasm/index.ts";
import { defineKernel } from "../src/engine/emit/wasm/kernel.ts";
import { switchOnRelaxedSimd } from "../src/engine/emit/wasm/node-flags.ts";
import { describeLoad, describeMachine, watchLoad } from "./machine.mjs";
import { readOptions } from "./options.mjs";
import { summary } from "./statistics.mjs";
import { formatTable } from "./table.mjs";

const aim = 0.85; // of the peak, products of 128 rows
const { quick = false, json = false } = readOptions({ quick: { type: "boolean" }, json: { type: "boolean" } });
const budgetMs = quick ? 150 : 450; // for each row of the table
const features = detectWasmFeatures(switchOnRelaxedSimd);
const memory = new (wasmHost().Memory)({ initial: (128 * 2 ** 20) / wasmPageBytes });
new Float32Array(memory.buffer).fill(0.01);

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

const load = watchLoad();
const peak = measurePeak();
const products = shapes.map((shape) => measureProduct(...shape));
report({ machine: describeMachine(), load: load(), features, peak, products });

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

function measureProduct(m, k, n) {
  const kernel = matmul({ m, n, k });
  const run = compiled(kernel);
  const a = 4096;
  const b = aligned(a + m * k * 4);
  const c = aligned(b + packedMatmulLength(k, n) * 4);
  return { name: `${m} x ${k} x ${n}`, ...measure(() => run(a, b, c, 0, kernel.pieces), 2 * m * n * k) };
}

function aligned(offset) {
  return Math.ceil((offset + 16) / 4096) * 4096;
}

function compiled(kernel) {
  return kernelFunction(compileKernels([kernel], memory, features).functions, kernel);
}

// In operations per nanosecond, which are GFLOP/s. The first calls run in V8's baseline compiler's code and do not count.
function measure(work, operations) {
  for (const started = performance.now(); performance.now() - started < 60;) work();
  const rates = [];
  const started = performance.now();
  while (performance.now() - started < budgetMs || rates.length < 5) {
    const calls = Math.max(1, Math.ceil(2e6 / operations));
    const before = performance.now();
    for (let call = 0; call < calls; call += 1) work();
    rates.push((operations * calls) / (performance.now() - before) / 1e6);
  }
  const { median, most } = summary(rates);
  return { median, most };
}

function report(result) {
  if (json) {
    console.log(JSON.stringify(result, null, 2));
    return;
  }
  const share = (rate, of) => `${((rate / of) * 100).toFixed(0)} %`;
  console.log(`machine  ${result.machine}\nload     ${describeLoad(result.load)}`);
  console.log(
    `peak     ${peak.most.toFixed(1)} GFLOP/s at best, ${peak.median.toFixed(1)} median, relaxed SIMD ${features.relaxedSimd ? "on" : "off"}\n`,
  );
  const rows = products.map(({ name, median, most }) => [
    name,
    median.toFixed(1),
    share(median, peak.median),
    most.toFixed(1),
    share(most, peak.most),
  ]);
  console.log(formatTable(["product, m x k x n", "median", "of peak", "best", "of peak"], rows));
  console.log(`\naim: ${aim * 100} % of the peak for 128 rows (best against best: others' work on the machine slows both)`);
}
