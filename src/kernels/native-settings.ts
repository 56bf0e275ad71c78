/** Load settings that the engine `native` alone obeys. Users set them beside the settings of all engines; the backend gets them as `LoadSettings.engine`. */
import type { LoadSettings } from "../contract/backend.ts";

/** Settings of the engine `native`. */
export interface NativeSettings {
  /**
   * Order of the codes of I2_S tensors in GGUF files, which depends on the machine that wrote the file. Default: the order stated in the file; otherwise the
   * first one with which the known answers of the model hold; otherwise the first one that the shapes allow.
   */
  readonly i2sLayout?: "x86" | "x86-interleaved" | "arm";
  /**
   * Ids of kernels for quantized weights that are preferred to the engine's own choice, the most preferred first: see docs/reference/kernels.md. In an id,
   * `*` stands for any characters: "*_AVX2" is such a kernel for every format that has one. Default: none.
   */
  readonly kernels?: readonly string[];
  /**
   * Tiles of matrices in TL1 and TL2 in GGUF files, which depend on the kernels of the bitnet.cpp that wrote the file: "3200x8640=160/96/32" is a matrix of
   * 3200 rows and 8640 columns, with `bm`, `bk` and `bmm` of kernel_config.ini. Default: the tiles of BitNet's setup_env.py for the shape.
   */
  readonly tlTiles?: readonly string[];
}

/** Settings of a load as users set them, whatever engine obeys them. */
export interface UserLoadSettings extends Omit<LoadSettings, "engine">, NativeSettings {}

/** The settings of `native` in what its backend is given; the options of loading have checked them. */
export function getNativeSettings({ engine = {} }: LoadSettings): NativeSettings {
  return engine;
}
