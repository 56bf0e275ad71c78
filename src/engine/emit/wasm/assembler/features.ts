/** What this machine's WebAssembly can do, found by validating modules that use it. */
import { ModuleBuilder } from "./module-builder.ts";
import { i32 } from "./scalar.ts";
import { f32x4, i32x4, v128 } from "./vector.ts";
import type { WasmFeatures } from "./wasm-features.ts";
import { wasmHost } from "./webassembly.ts";

/**
 * Validates two tiny modules. Where relaxed SIMD is missing, `switchOn` is called, if given, and the question asked again: Node.js 20 can
 * switch it on at run time, newer versions and browsers have it on (and Node.js 22 would complain about the flag, so the order matters).
 */
export function detectWasmFeatures(switchOn?: () => void): WasmFeatures {
  const plain = isValid(false);
  if (plain && !isValid(true)) switchOn?.();
  return { simd: plain, relaxedSimd: plain && isValid(true) };
}

function isValid(relaxedSimd: boolean): boolean {
  const builder = new ModuleBuilder({ simd: true, relaxedSimd });
  builder.function("probe", "i32", (f) => {
    const sum = f.value(f.madd(v128.zero, v128.zero, f32x4.splat(f32x4.extractLane(v128.load(i32.const(0)), 0))));
    f.result(i32x4.extractLane(sum, 0));
  });
  return wasmHost().validate(builder.build({ shared: false }));
}
