/**
 * The checks that run when models are loaded, all of them, in one process: of each function of generated code, of each kernel for quantized weights, of
 * decoders and of the interpreter. Exits with 1 and prints what is wrong where one fails. `mutate` bundles this with one token changed.
 */
import { detectWasmFeatures, KernelChecks } from "../../src/engine/index.ts";
import { enableRelaxedSimd } from "../../src/engine/codegen/wasm/v8-flags.ts";
import { multipliedFormats } from "../../src/kernels/registry.ts";

const features = detectWasmFeatures(enableRelaxedSimd);
for (const each of [features, { ...features, relaxedSimd: false, byteDot: "none" } as const]) {
  const checks = new KernelChecks(each);
  await checks.checkAll();
  for (const [type, format] of Object.entries(multipliedFormats)) checks.testBlockKernels({ type, format });
  const [failed] = checks.failed;
  if (failed === undefined) continue;
  console.log(`${failed.name}: ${failed.problem}`);
  process.exit(1);
}
