/** Vectors of texts in responses. */
import { unsupportedModel } from "../../contract/errors.ts";
import type { EmbedResult } from "../../api/task-requests.ts";

/** Throws MODEL_UNSUPPORTED for a result with a vector per token instead of one per text. */
export function refuseTokenVectors({ pooling }: EmbedResult, name: string): void {
  if (pooling === undefined) return;
  throw unsupportedModel(
    `${name} gives a vector per token, and this route returns one per text`,
    "use POST /api/embed/outputs or POST /embed_all, or another model",
  );
}

/** The vector as an array of numbers, for JSON. Faster than spreading. */
export function toJsonNumbers(vector: Float32Array): number[] {
  const numbers: number[] = [];
  for (const value of vector) numbers.push(value);
  return numbers;
}

/** The vectors of the tokens, which are contiguous in `rows`, `[tokens, dimensions]`. */
export function tokenRows(rows: Float32Array, dimensions: number): Float32Array[] {
  return Array.from({ length: rows.length / dimensions }, (_row, token) =>
    rows.subarray(token * dimensions, (token + 1) * dimensions),
  );
}

/** The vector as base64 of little-endian 32-bit floats, which OpenAI's and Cohere's clients decode. */
export function base64Floats(vector: Float32Array): string {
  // Every platform that Node.js supports with WebAssembly is little-endian.
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64");
}
