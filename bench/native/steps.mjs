// Where a model's time goes: the kernels of its program by what they took, on one thread. `npm run bench:steps -- MODEL.onnx NAME=TYPE:SHAPE ...`,
// for example `input_ids=int64:1x128`; `--runs N` (default 20), `--wasm` without machine code. Inputs are ones, or a sine where they are float32.
import { readFileSync } from "node:fs";
import { detectWasmFeatures, compileKernels, kernelFunction } from "../../src/engine/codegen/wasm/index.ts";
import { enableRelaxedSimd, withOptimizingCompiler } from "../../src/engine/codegen/wasm/v8-flags.ts";
import { openMachineCode } from "../../src/backends/native/machine-code/machine-code.ts";
import { generateMachineKernels, withMachineCode } from "../../src/engine/codegen/x64/index.ts";
import { readOnnxModel } from "../../src/engine/onnx/read-model.ts";
import { runPasses } from "../../src/engine/passes/index.ts";
import { planGraph } from "../../src/engine/plan/plan.ts";
import { EngineMemory } from "../../src/engine/memory/engine-memory.ts";
import { Executable } from "../../src/engine/execute/executable.ts";
import { Builder } from "../../src/engine/build/builder.ts";
import { traceModel } from "../../src/engine/onnx/trace-model.ts";
import { zeros } from "../../src/contract/tensor.ts";
import { parseArgs } from "node:util";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { median } from "../measuring/statistics.mjs";
import { formatTable } from "../measuring/table.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: "string", default: "20" }, wasm: { type: "boolean", default: false } },
});
const [path, ...given] = positionals;
if (path === undefined) throw new Error("give a model: npm run bench:steps -- model.onnx input=float32:1x3x224x224");
const inputs = Object.fromEntries(given.map(inputOf));
const features = detectWasmFeatures(enableRelaxedSimd);
const load = watchLoad();
const { model } = readOnnxModel(new Uint8Array(readFileSync(path)), path);
const build = new Builder();
const entries = Object.entries(inputs).map(([name, { dataType, shape }]) => [name, { type: { dataType, shape } }]);
const results = traceModel(model, new Map(entries), build);
const outputs = [...results].map(([name, value]) => ({ name, value }));
const traced = build.graph(
  entries.map(([name, value]) => ({ name, value })),
  outputs,
);
const machineCode = values.wasm ? undefined : openMachineCode().create();
const plan = planGraph(runPasses(traced, { hasExactFloats: true }), {
  isModelConstant: () => true,
  hasByteDot: features.byteDot !== "none",
  hasWideVectors: machineCode !== undefined,
});
const memory = new EngineMemory({ shared: false });
const compiled = withOptimizingCompiler(() => compileKernels(plan.kernels, memory.memory, features));
const machineKernels = generateMachineKernels(plan.kernels, machineCode);
const machineKeys = new Set(machineKernels.map(({ key }) => key));
const { functions } = withMachineCode(compiled, machineKernels, memory.memory, machineCode);
let times = [];
const executable = new Executable(plan, memory, (kernel, offsets) => {
  const run = kernelFunction(functions, kernel);
  const before = performance.now();
  const status = run(...offsets, 0, kernel.pieces);
  times.push({ kernel, milliseconds: performance.now() - before });
  return status;
});
const runs = [];
const totals = [];
for (let run = 0; run < Number(values.runs) + 2; run += 1) {
  times = [];
  executable.writeInputs(inputs);
  const before = performance.now();
  executable.runSteps(0, Number.POSITIVE_INFINITY);
  const whole = performance.now() - before;
  if (run < 2) continue;
  totals.push(whole);
  runs.push(times);
}
report();

function inputOf(argument) {
  const [, name, dataType, sizes] = /^(.+)=(\w+):([\dx]*)$/.exec(argument) ?? [];
  if (name === undefined) throw new Error(`${argument} is not name=type:1x2x3`);
  const tensor = zeros(dataType, sizes === "" ? [] : sizes.split("x").map(Number));
  const { data } = tensor;
  for (let index = 0; index < data.length; index += 1)
    data[index] = typeof data[index] === "bigint" ? 1n : dataType === "float32" ? Math.sin(index * 0.37) : 1;
  return [name, tensor];
}

function report() {
  const steps = runs[0].map(({ kernel }, step) => ({
    kernel,
    milliseconds: median(runs.map((each) => each[step].milliseconds)),
  }));
  const byKey = new Map();
  for (const { kernel, milliseconds } of steps) {
    const known = byKey.get(kernel.key) ?? { calls: 0, milliseconds: 0 };
    byKey.set(kernel.key, { calls: known.calls + 1, milliseconds: known.milliseconds + milliseconds });
  }
  const sum = steps.reduce((all, { milliseconds }) => all + milliseconds, 0);
  console.log(`machine  ${describeMachine()}\nload     ${describeLoad(load())}`);
  console.log(
    `run      ${median(totals).toFixed(2)} ms, of which kernels ${sum.toFixed(2)} (medians of ${totals.length} runs)\n`,
  );
  const rows = [...byKey]
    .sort(([, one], [, other]) => other.milliseconds - one.milliseconds)
    .map(([key, { calls, milliseconds }]) => [
      `${machineKeys.has(key) ? "machine code: " : ""}${key}`.slice(0, 170),
      String(calls),
      milliseconds.toFixed(3),
      `${((milliseconds / sum) * 100).toFixed(1)} %`,
    ]);
  console.log(formatTable(["kernel", "calls", "ms", "share"], rows));
}
