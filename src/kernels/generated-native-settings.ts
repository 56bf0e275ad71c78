/** Written by `npm run schemas`; the table of options is the source. */

/** Settings of a load that the engine `native` alone has. */
export interface NativeSettings {
  /** Order of the codes of weights in I2_S (BitNet), which depends on the machine that wrote the file: `x86`, `x86-interleaved` or `arm` (more). Not set: what the file states, or the one with which the model's known answers hold, else `x86`. Targets that do not read I2_S are refused. */
  readonly i2sLayout?: "x86" | "x86-interleaved" | "arm";
  /** Kernels for quantized weights that are preferred to the engine's own choice, as a list of ids, the most preferred first: `[I2S_QK256_Scalar]` (all kernels). `*` stands for any characters: `["*_AVX2"]` prefers such a kernel for every format that has one. In the variable and the flag separated by commas. The list is one of fallbacks: the first that can be used is, and it is refused where none can, since none is built, this machine runs none, or their self-tests fail. Models with different kernels are different loaded models. Targets whose engine has no such setting are refused (more). */
  readonly kernels?: readonly string[];
  /** Highest level of the machine code that `native` generates for this processor: `off` (WebAssembly computes all kernels), `avx2`, `avx512` or `avx512vnni`. Not set: the highest that the processor has. Machine code needs Linux on x86-64; elsewhere, and where the system refuses it, WebAssembly computes all kernels and the evidence says why (more). Results in float32 differ in their last bits between levels. */
  readonly machineCode?: "off" | "avx2" | "avx512" | "avx512vnni";
  /** Tiles of matrices in TL1 and TL2 (BitNet), which depend on the kernels of the bitnet.cpp that wrote the file: a list of texts such as `3200x8640=160/96/32`, which are rows and columns of a matrix, then `bm`, `bk` and `bmm` of its kernel_config.ini (more). Not set: those that BitNet's setup_env.py has for the shape; other shapes are refused. Targets that do not read TL1 and TL2 are refused. */
  readonly tlTiles?: readonly string[];
}
