/** Flags of XLA's compiler by type of device. */
import type { CompilerFlags } from "./pjrt/compile-options.ts";

/**
 * On GPUs XLA tries many kernels for each product by default, and computes with the fastest: on an NVIDIA H200 with 16 cores that takes 34 to 71 s of
 * compilation for MiniLM. At level 0 it tries none. Its own product kernels (Triton) are then taken untried, four times slower on large batches than
 * the vendor's library, which chooses its kernels by itself: without them a program compiles in a third of the time, too.
 */
const onGpu: CompilerFlags = { xla_gpu_autotune_level: 0, xla_gpu_enable_triton_gemm: false };

/** The flags with which programs for a type of device are compiled. */
export function compilerFlags(deviceType: string): CompilerFlags {
  return deviceType === "cuda" || deviceType === "rocm" ? onGpu : {};
}
