/** Flags of XLA's compiler by type of device. */
import type { CompilerFlags } from "./pjrt/compile-options.ts";

/**
 * On GPUs XLA tries many kernels for each product by default, and computes with the fastest: on an NVIDIA H200 with 16 cores that takes 8 to 11 s of
 * compilation for one product. Level 0 takes the kernels that the vendor's libraries recommend.
 */
const onGpu: CompilerFlags = { xla_gpu_autotune_level: 0 };

/** The flags with which programs for a type of device are compiled. */
export function compilerFlags(deviceType: string): CompilerFlags {
  return deviceType === "cuda" || deviceType === "rocm" ? onGpu : {};
}
