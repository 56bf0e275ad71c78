/** The files of a model, as a backend gets them. */

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
  /**
   * Packing of the weights to fewer bits while loading; undefined: they are not packed. Only for backends that pack such models: see `SupportedModels.packing`.
   */
  readonly packing?: WeightPacking;
  /** First entry of `architectures` in config.json, if any. */
  readonly architecture?: string;
  /** The parsed config.json, or an empty object. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** Precisions that a backend can pack weights to while it loads a model. */
export type PackedPrecision = "int8" | "int4";

/** Weights that are packed to a lower precision while the model is loaded. The file keeps its own precision. */
export interface WeightPacking {
  readonly to: PackedPrecision;
  /** Name of the variant whose file is read. */
  readonly from: string;
  /** Estimated bytes of the packed weights in memory. */
  readonly bytes: number;
}
