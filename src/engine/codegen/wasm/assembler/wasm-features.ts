/** Optional WebAssembly features that generated code may use. */
export interface WasmFeatures {
  /** 128-bit SIMD. Kernels require it. */
  readonly simd: boolean;
  /** Relaxed SIMD, which provides multiply-add in one instruction. */
  readonly relaxedSimd: boolean;
  /**
   * How i16x8.relaxed_dot_i8x16_i7x16_s takes a second operand above 127, which the specification leaves to the machine; "none" where the
   * instruction is missing or does neither. x64 has it unsigned, arm64 signed.
   */
  readonly byteDot: "unsigned" | "signed" | "none";
}
