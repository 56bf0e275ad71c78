/** The files of a model, as a backend gets them. */
import type { WeightPacking } from "./weight-packing.ts";

/** File formats of models. */
export type ModelFormat = "onnx" | "safetensors" | "gguf";

/** Precisions of weights, named as in model files. */
export type Precision = "fp32" | "fp16" | "bf16" | "int8" | "int4";

/** The files of one variant of a model, located and checked by `models/`. */
export interface ModelFiles {
  readonly format: ModelFormat;
  /** Absolute path of the file of weights or of the graph. */
  readonly path: string;
  /** Bytes of `path` and of the files it refers to. */
  readonly bytes: number;
  /** Precision of the weights. Absent if the file does not state it. */
  readonly precision?: Precision;
  /** Set if the weights are to be packed while loading. Only for backends that pack such models: see `SupportedModels.packing`. */
  readonly packing?: WeightPacking;
  /** First entry of `architectures` in config.json, if any. */
  readonly architecture?: string;
  /** The parsed config.json, or an empty object. */
  readonly config: Readonly<Record<string, unknown>>;
}
