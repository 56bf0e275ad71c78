// Speed of float32 products in machine code beside WebAssembly and the peak of multiply-add instructions, and of a call of every other family of kernels beside its
// roofline, in one thread: `npm run bench:products`, and with `-- --level AVX2` at a lower level. `--svg FILE` draws the shares. Times are the best of many, in
// processor time where a call takes long, since others may interrupt it.
import { openMachineCode } from "../../src/backends/native/machine-code/machine-code.ts";
import { compileKernels, kernelFunction } from "../../src/engine/codegen/wasm/compile.ts";
import { detectWasmFeatures } from "../../src/engine/codegen/wasm/assembler/features.ts";
import { enableRelaxedSimd, withOptimizingCompiler } from "../../src/engine/codegen/wasm/v8-flags.ts";
import { matmul } from "../../src/engine/codegen/wasm/kernels/matmul/matmul.ts";
import { generateMachineKernels, withMachineCode } from "../../src/engine/codegen/x64/index.ts";
import { measureFamily, measurePeaks } from "../../src/backends/native/kernel-speeds/family-speeds.ts";
import { machineFamilyId } from "../../src/kernels/kernel-ids.ts";
import { listedFamilies } from "../../src/kernels/machine-families.ts";
import { writeBars } from "../measuring/bars-svg.mjs";
import { describeMachine } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";

const shapes = [
  [128, 384, 384],
  [128, 384, 1536],
  [128, 1536, 384],
  [16, 384, 384],
  [1, 384, 1536],
  [1, 4096, 4096],
  [1024, 1024, 1024],
];
const budgetMs = 1000;
const longMs = 3;
const source = openMachineCode();
const { level = source.level, svg } = readOptions({ level: { type: "string" }, svg: { type: "string" } });
const machineCode = source.create(level);
const features = detectWasmFeatures(enableRelaxedSimd);

/** Best seconds of a call. */
function best(call) {
  call();
  let fastest = Number.POSITIVE_INFINITY;
  for (const end = performance.now() + budgetMs; performance.now() < end;) {
    const [start, used] = [performance.now(), process.cpuUsage()];
    call();
    const elapsed = performance.now() - start;
    const { user, system } = process.cpuUsage(used);
    fastest = Math.min(fastest, elapsed > longMs ? (user + system) / 1000 : elapsed);
  }
  return fastest / 1000;
}

// Others on the machine slow single measurements down: the best of three.
const measuredPeaks = [1, 2, 3].map(() => measurePeaks(machineCode));
const peaks = Object.fromEntries(
  Object.keys(measuredPeaks[0]).map((name) => [name, Math.max(...measuredPeaks.map((each) => each[name]))]),
);
const top = 2e9 * peaks.floatGigaMultiplyAdds;
const bars = [];
const streamed = [];
const cacheBytes = 48e6;
console.log(`${level}: peak of multiply-add ${(top / 1e9).toFixed(1)} GFLOP/s`);
console.log("| product | machine code GFLOP/s | of the peak | WebAssembly GFLOP/s |\n|---|---|---|---|");
for (const [m, k, n] of shapes) {
  const memory = new WebAssembly.Memory({ initial: Math.ceil((4 * (m * k + k * (n + 16) + m * n)) / 65536) + 2 });
  new Float32Array(memory.buffer).fill(0.5);
  const measured = [16, 8].map((panelColumns) => {
    const request = { m, n, k, panelColumns };
    const kernel = matmul(request);
    const compiled = withOptimizingCompiler(() => compileKernels([kernel], memory, features));
    const code = generateMachineKernels([kernel], machineCode);
    const run = kernelFunction(withMachineCode(compiled, code, memory, machineCode).functions, kernel);
    const a = 64;
    const b = Math.ceil((a + 4 * m * k + 16) / 4096) * 4096;
    const c = Math.ceil((b + 4 * k * (n + 15) + 16) / 64) * 64;
    return (2 * m * n * k) / best(() => run(...kernel.dynamicSizes, a, b, c, 0, kernel.pieces));
  });
  const [machine, wasm] = measured;
  const label = `${m} x ${k} x ${n}`;
  if (m > 1) bars.push({ label, value: machine / top, note: `${(machine / 1e9).toFixed(0)} GFLOP/s` });
  const gigabytes = (2 * machine) / 1e9; // of a matrix and a vector: 4 bytes for each multiplication and addition
  if (m === 1 && 4 * k * n > cacheBytes)
    streamed.push({
      label,
      value: gigabytes / peaks.memoryGigabytesPerSecond,
      note: `matrix and vector, ${gigabytes.toFixed(0)} GB/s: memory`,
    });
  console.log(
    `| ${m}x${k}x${n} | ${(machine / 1e9).toFixed(1)} | ${((100 * machine) / top).toFixed(0)} % | ${(wasm / 1e9).toFixed(1)} |`,
  );
}

console.log(
  `\nmemory sweep ${peaks.memoryGigabytesPerSecond.toFixed(1)} GB/s, int8 ${(2 * peaks.byteGigaMultiplyAdds).toFixed(1)} GOP/s`,
);
console.log("| kernel | milliseconds | of the roofline | bound by |\n|---|---|---|---|");
const products = bars.splice(0);
bars.push(...streamed);
for (const family of listedFamilies) {
  const speed = measureFamily(family, machineCode, peaks);
  if (speed === undefined) continue;
  const { what, milliseconds, ofRoofline, bound } = speed;
  console.log(`| ${what} | ${milliseconds.toFixed(3)} | ${(100 * ofRoofline).toFixed(0)} % | ${bound} |`);
  bars.push({
    label: machineFamilyId(family, level),
    value: ofRoofline,
    note: `${what.replace(/ of .*| 3 x 3.*| 2 x 2.*/, "")}: ${bound}`,
  });
}
if (svg !== undefined) {
  writeBars(svg, {
    title: "Share of the processor's peak that kernels in machine code reach",
    subtitle: `${describeMachine()}; ${level}, one thread; peaks: ${peaks.floatGigaMultiplyAdds.toFixed(0)} giga multiply-adds of float32, ${peaks.memoryGigabytesPerSecond.toFixed(0)} GB/s`,
    bars: [
      ...products.map((each, index) =>
        index === 0 ? { ...each, group: "float32 products, in caches: of a loop of multiply-adds" } : each,
      ),
      ...bars.map((each, index) => (index === 0 ? { ...each, group: "operands in main memory: of the roofline" } : each)),
    ],
    reference: { value: 1, label: "peak" },
    format: (value) => `${(100 * value).toFixed(0)} %`,
  });
}
