/**
 * Number formats of embeddings in Cohere's API. `binary` and `ubinary` are as in sentence-transformers' `quantize_embeddings`. For `int8` and
 * `uint8` Cohere's service uses calibration ranges that it does not publish, and its response has no room for a scale, so that here every model and
 * every text have the same range: that of unit vectors, [-1, 1].
 */
import { invalidInput } from "../../contract/errors.ts";
import { quantizeVectors } from "../../tasks/embedding/quantize.ts";
import { createYielder } from "../../tasks/encoding/yielding.ts";
import { at } from "../../contract/checked.ts";
import { base64Floats, toJsonNumbers } from "./text-vectors.ts";

/** Formats that a request may choose. */
export const embeddingTypes = ["float", "int8", "uint8", "binary", "ubinary", "base64"] as const;

/** Format of the numbers of a vector. */
export type EmbeddingType = (typeof embeddingTypes)[number];

/** A vector as it is written in the response. */
export type EncodedVector = Float32Array | readonly number[] | string;

/**
 * The vectors in one format, made without blocking the event loop. Throws INPUT_INVALID for a binary format if the number of dimensions is no
 * multiple of 8.
 */
export async function encodeVectors(vectors: readonly Float32Array[], type: EmbeddingType): Promise<EncodedVector[]> {
  if (type === "binary" || type === "ubinary") refusePartialByte(vectors[0]?.length ?? 0, type);
  const yieldIfDue = createYielder();
  const encoded: EncodedVector[] = [];
  for (const vector of vectors) {
    encoded.push(encodeVector(vector, type));
    await yieldIfDue();
  }
  return encoded;
}

function encodeVector(vector: Float32Array, type: EmbeddingType): EncodedVector {
  switch (type) {
    case "float":
      return vector;
    case "base64":
      return base64Floats(vector);
    case "int8":
      return unitCodes(vector, 0);
    case "uint8":
      return unitCodes(vector, 128);
    case "binary":
    case "ubinary":
      return [...at(quantizeVectors([vector], { precision: type }).embeddings, 0)];
    default:
      return type satisfies never;
  }
}

/** 127 times the vector scaled to unit length, rounded, plus `offset`. The zero vector stays zero. */
function unitCodes(vector: Float32Array, offset: number): number[] {
  const norm = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  const scale = norm === 0 ? 0 : 127 / norm;
  return toJsonNumbers(vector).map((value) => Math.round(value * scale) + offset);
}

function refusePartialByte(dimensions: number, type: EmbeddingType): void {
  if (dimensions % 8 === 0) return;
  throw invalidInput(
    `the embedding type ${JSON.stringify(type)} packs 8 dimensions into a byte, and the vectors have ${dimensions}`,
    "ask for a multiple of 8 with output_dimension, or for int8",
    { path: ["embedding_types"] },
  );
}
