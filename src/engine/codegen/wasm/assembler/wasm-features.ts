/** Optional WebAssembly features that generated code may use. */
export interface WasmFeatures {
  /** 128-bit SIMD. Kernels require it. */
  readonly simd: boolean;
  /** Relaxed SIMD, which provides multiply-add in one instruction. */
  readonly relaxedSimd: boolean;
  /**
   * How i16x8.relaxed_dot_i8x16_i7x16_s treats a second operand above 127, which the specification leaves to the machine: unsigned on x64, signed on arm64;
   * "none" if the instruction is missing or does neither.
   */
  readonly byteDot: "unsigned" | "signed" | "none";
}
