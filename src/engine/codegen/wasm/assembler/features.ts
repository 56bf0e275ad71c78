/** Detects the WebAssembly features of this machine by validating modules that use them. */
import { ModuleBuilder, importNames } from "./module-builder.ts";
import { i32 } from "./scalar.ts";
import { f32x4, i16x8, i32x4, i8x16, v128 } from "./vector.ts";
import type { WasmFeatures } from "./wasm-features.ts";
import { wasmHost } from "./webassembly.ts";

const baseline = { simd: true, relaxedSimd: true, byteDot: "none" } as const;

/**
 * Returns the WebAssembly features of this machine. If relaxed SIMD is missing, calls `switchOn`, which enables it, and checks again: Node.js 20 has the feature behind a flag that can
 * be set at run time. Newer versions and browsers have it enabled, and Node.js 22 warns about the flag, which is why the check comes first.
 */
export function detectWasmFeatures(switchOn?: () => void): WasmFeatures {
  const plain = canValidate(false);
  if (plain && !canValidate(true)) switchOn?.();
  const relaxedSimd = plain && canValidate(true);
  return { simd: plain, relaxedSimd, byteDot: relaxedSimd ? probeByteDot() : "none" };
}

function canValidate(relaxedSimd: boolean): boolean {
  const builder = new ModuleBuilder({ ...baseline, relaxedSimd });
  builder.function("probe", "i32", (f) => {
    const sum = f.value(f.madd(v128.zero, v128.zero, f32x4.splat(f32x4.extractLane(v128.load(i32.const(0)), 0))));
    f.result(i32x4.extractLane(sum, 0));
  });
  return wasmHost().validate(builder.build({ shared: false }));
}

/** Executes the relaxed dot product on boundary values and returns how this machine interprets bytes above 127 in the second operand. */
function probeByteDot(): WasmFeatures["byteDot"] {
  const builder = new ModuleBuilder(baseline);
  builder.function("dot", "i32", (f) => {
    const [weight, byte] = [f.parameter("i32"), f.parameter("i32")];
    const products = i16x8.relaxedDotI8x16I7x16S(i8x16.splat(weight), i8x16.splat(byte));
    f.result(i32x4.extractLane(i32x4.extendLowI16x8S(products), 0));
  });
  const host = wasmHost();
  const [space, name] = importNames.memory;
  const { exports } = new host.Instance(new host.Module(builder.build({ shared: false })), {
    [space]: { [name]: new host.Memory({ initial: 1 }) },
  });
  const pairs = [-64, -1, 1, 64].flatMap((weight) => [0, 1, 127, 128, 129, 255].map((byte) => [weight, byte] as const));
  const agrees = (value: (byte: number) => number): boolean =>
    pairs.every(([weight, byte]) => exports["dot"]?.(weight, byte) === 2 * weight * value(byte));
  if (agrees((byte) => byte)) return "unsigned";
  return agrees((byte) => (byte << 24) >> 24) ? "signed" : "none";
}
