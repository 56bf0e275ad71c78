/** Which parts of WebAssembly that not every machine has code may use. */
export interface WasmFeatures {
  /** 128-bit vectors. Without them there are no kernels. */
  readonly simd: boolean;
  /** Relaxed vectors: multiply-add in one instruction. */
  readonly relaxedSimd: boolean;
}
