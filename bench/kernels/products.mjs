// Speed of float32 products in machine code beside WebAssembly and the peak of multiply-add instructions, in one thread: `npm run bench:products`, and with
// `-- AVX2` at a lower level. Times are the best of many, in processor time where a call takes long, since others may interrupt it.
import { openMachineCode } from "../../src/backends/native/machine-code/machine-code.ts";
import { compileKernels, kernelFunction } from "../../src/engine/codegen/wasm/compile.ts";
import { detectWasmFeatures } from "../../src/engine/codegen/wasm/assembler/features.ts";
import { enableRelaxedSimd, withOptimizingCompiler } from "../../src/engine/codegen/wasm/v8-flags.ts";
import { matmul } from "../../src/engine/codegen/wasm/kernels/matmul/matmul.ts";
import { generateMachineKernels, withMachineCode } from "../../src/engine/codegen/x64/index.ts";
import { openAssembler, vectorTarget } from "../../src/engine/codegen/x64/vector-target.ts";

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
const level = process.argv[2] ?? source.level;
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

/** Operations per second of independent multiply-add instructions in registers. */
function peak() {
  const target = vectorTarget(level);
  const { asm } = openAssembler(target);
  const loops = 20_000;
  const sums = 12;
  for (let sum = 0; sum < sums; sum += 1) asm.clear(sum);
  asm.loadImmediate("rax", loops);
  asm.countDown("rax", () => {
    for (let repeat = 0; repeat < 4; repeat += 1) for (let sum = 0; sum < sums; sum += 1) asm.vector("vfmadd231ps", sum, 13, 14);
  });
  asm.return();
  const memory = new WebAssembly.Memory({ initial: 1 });
  const [installed] = machineCode.install([{ key: "peak", level, code: asm.code, arguments: [] }]);
  const call = machineCode.bind(installed, memory);
  return (loops * 4 * sums * target.lanes * 2) / best(() => call(0, 1));
}

const top = peak();
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
  console.log(
    `| ${m}x${k}x${n} | ${(machine / 1e9).toFixed(1)} | ${((100 * machine) / top).toFixed(0)} % | ${(wasm / 1e9).toFixed(1)} |`,
  );
}
