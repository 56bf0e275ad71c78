/** The part of the contract in `backend.ts` that concerns weights that are packed to a lower precision while a model is loaded. */

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
