/**
 * Scalar and binary quantization of embeddings; a code is restored as `float = start + step * code`. With calibration ranges it computes what
 * sentence-transformers' `quantize_embeddings` (`util/quantization.py`) computes. Without, every vector has its own scale, so that its codes
 * depend on its text alone.
 */
import { at } from "../../contract/checked.ts";
import { invalidInput } from "../../contract/errors.ts";
import { refuseUnlisted, optionConflict } from "../../runtime/options/option.ts";
import { type QuantizedPrecision, precisions } from "./precisions.ts";
import type { EmbeddingRanges } from "./quantization-ranges.ts";

/** Parameters that restore floats from 8-bit codes: `float = start + step * code`. */
export interface Scales {
  /** Whether `starts` and `steps` have one entry per text or one per dimension. */
  readonly per: "text" | "dimension";
  readonly starts: Float32Array;
  readonly steps: Float32Array;
}

/** Quantized embeddings, with the scales to restore floats. */
export interface QuantizedVectors {
  /** One per text: Int8Array for "int8" and "binary", Uint8Array for "uint8" and "ubinary". */
  readonly embeddings: (Int8Array | Uint8Array)[];
  /** Scales of the codes; absent with "binary" and "ubinary". */
  readonly scales?: Scales;
}

/** Options of `quantize`. */
export interface QuantizeVectorsOptions {
  readonly precision: QuantizedPrecision;
  /** Calibration ranges, for "int8" and "uint8". Default: one scale per vector. */
  readonly ranges?: EmbeddingRanges;
}

/** Validates quantization options before a model runs. Throws INPUT_INVALID. `pooling`: pooling of the call or of its result. */
export function checkQuantize({ precision, ranges }: Partial<QuantizeVectorsOptions>, pooling: string | undefined): void {
  refuseUnlisted<string>("precision", precision, precisions);
  if (pooling === "none")
    throw optionConflict(`precision "${precision}" needs one vector per text, and pooling "none" gives one per token`);
  if (ranges === undefined) return;
  if (precision !== "int8" && precision !== "uint8") {
    throw invalidInput(
      `ranges have no effect with precision "${precision ?? "float32"}"`,
      'leave ranges out, or choose precision "int8" or "uint8"',
    );
  }
  if (areRanges(ranges)) return;
  throw invalidInput(
    "ranges must be the lowest and the highest value of every dimension",
    "make them with embeddingRanges(embeddings)",
  );
}

function areRanges(ranges: unknown): boolean {
  const lists: unknown[] = Array.isArray(ranges) ? ranges : [];
  const [lowest = [], highest = []] = lists.map((list) => Array.from((list ?? []) as ArrayLike<unknown>));
  const isRange = (low: unknown, dimension: number): boolean => {
    const high = highest[dimension];
    return typeof low === "number" && typeof high === "number" && Number.isFinite(high - low) && low <= high;
  };
  return lists.length === 2 && lowest.length === highest.length && lowest.every(isRange);
}

/**
 * Quantizes float32 embeddings. Throws INPUT_INVALID if the ranges have another length than the vectors, or if binary precisions are applied to
 * vectors whose length is not a multiple of 8.
 */
export function quantizeVectors(
  vectors: readonly Float32Array[],
  { precision, ranges }: QuantizeVectorsOptions,
): QuantizedVectors {
  if (precision === "binary" || precision === "ubinary")
    return { embeddings: vectors.map((vector) => getSigns(vector, precision)) };
  return ranges === undefined ? byText(vectors, precision) : byDimension(vectors, precision, ranges);
}

/** Offset between signed and unsigned codes: uint8 = int8 + 128, as in sentence-transformers. */
const middle = 128;

/** Symmetric quantization per vector: the component of largest magnitude becomes 127 or -127. */
function byText(vectors: readonly Float32Array[], precision: "int8" | "uint8"): QuantizedVectors {
  const steps = Float32Array.from(vectors, (vector) => vector.reduce((max, value) => Math.max(max, Math.abs(value)), 0) / 127);
  const embeddings = vectors.map((vector, text) => {
    const step = at(steps, text);
    // A subnormal step has few significant bits and can be a third too small, so that codes need clamping.
    const codes = Int8Array.from(vector, (value) => (step === 0 ? 0 : Math.min(Math.max(Math.round(value / step), -127), 127)));
    return precision === "int8" ? codes : Uint8Array.from(codes, (code) => code + middle);
  });
  const starts = precision === "int8" ? new Float32Array(steps.length) : steps.map((step) => -middle * step);
  return { embeddings, scales: { per: "text", starts, steps } };
}

/** Affine quantization per dimension. Codes are truncated towards zero, as numpy's cast does; values outside the ranges are clamped (numpy wraps). */
function byDimension(vectors: readonly Float32Array[], precision: "int8" | "uint8", ranges: EmbeddingRanges): QuantizedVectors {
  const [lowest, highest] = ranges.map((values) => Float32Array.from(values));
  const offset = precision === "int8" ? middle : 0;
  const steps = Float32Array.from(lowest ?? [], (low, dimension) => Math.fround((highest?.[dimension] ?? low) - low) / 255);
  const embeddings = vectors.map((vector) => {
    if (vector.length !== steps.length) {
      throw invalidInput(
        `the ranges are of ${steps.length} dimensions, and the vectors have ${vector.length}`,
        "make them of vectors of this model, cut to the same dimensions",
      );
    }
    const codes = Array.from(vector, (value, dimension) => {
      const step = at(steps, dimension);
      const code = step === 0 ? 0 : Math.fround(Math.fround(value - (lowest?.[dimension] ?? 0)) / step);
      return Math.trunc(Math.fround(Math.min(Math.max(code, 0), 255) - offset));
    });
    return precision === "int8" ? Int8Array.from(codes) : Uint8Array.from(codes);
  });
  const starts = Float32Array.from(lowest ?? [], (low, dimension) => low + offset * at(steps, dimension));
  return { embeddings, scales: { per: "dimension", starts, steps } };
}

function getSigns(vector: Float32Array, precision: "binary" | "ubinary"): Int8Array | Uint8Array {
  const remainder = vector.length % 8;
  if (remainder !== 0) {
    const message = `precision "${precision}" packs 8 dimensions into a byte, and the vectors have ${vector.length}`;
    const shorter = vector.length > 8 ? `keep ${vector.length - remainder} of them with dimensions, or ` : "";
    throw invalidInput(message, `${shorter}choose precision int8`);
  }
  const bytes = new Uint8Array(vector.length / 8);
  for (const [dimension, value] of vector.entries()) {
    if (value > 0) bytes[dimension >> 3] = (bytes[dimension >> 3] ?? 0) | (0x80 >> (dimension & 7));
  }
  return precision === "ubinary" ? bytes : Int8Array.from(bytes, (byte) => byte - middle);
}
