/**
 * Embedding matrices, one row per token, stored as in the file. Rows are decoded while they are added, so an int4 model stays int4 in memory. Each
 * storage has its own inner loop; there is one call per token.
 */
import type { Precision } from "../../contract/backend.ts";
import { float16Table } from "../../contract/float16.ts";

/** A static embedding matrix `[tokens, dimensions]`. A text is embedded as the sum of the rows of its tokens. */
export interface EmbeddingMatrix {
  /** Storage type of the elements. */
  readonly precision: Precision;
  /** Number of rows. */
  readonly rows: number;
  /** Elements of a row. */
  readonly dimensions: number;
  /** Bytes of the matrix and its lookup tables. */
  readonly bytes: number;
  /** Adds row `index` times `weight` to `sum`, which has `dimensions` elements. */
  addRow(sum: Float64Array, index: number, weight: number): void;
}

/** A float32 matrix [rows, dimensions]. */
export function float32Matrix(data: Float32Array, dimensions: number): EmbeddingMatrix {
  return {
    precision: "fp32",
    rows: data.length / dimensions,
    dimensions,
    bytes: data.byteLength,
    addRow(sum, index, weight) {
      const start = index * dimensions;
      for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] ?? 0) + (data[start + i] ?? 0) * weight;
    },
  };
}

/** A matrix of float16 bit patterns [rows, dimensions]. */
export function float16Matrix(data: Uint16Array, dimensions: number): EmbeddingMatrix {
  const table = float16Table();
  return {
    precision: "fp16",
    rows: data.length / dimensions,
    dimensions,
    bytes: data.byteLength + table.byteLength,
    addRow(sum, index, weight) {
      const start = index * dimensions;
      for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] ?? 0) + (table[data[start + i] ?? 0] ?? 0) * weight;
    },
  };
}

/** An int8 matrix [rows, dimensions]. The scale of a row is the weight of its token. */
export function int8Matrix(data: Int8Array, dimensions: number): EmbeddingMatrix {
  return {
    precision: "int8",
    rows: data.length / dimensions,
    dimensions,
    bytes: data.byteLength,
    addRow(sum, index, weight) {
      const start = index * dimensions;
      for (let i = 0; i < dimensions; i++) sum[i] = (sum[i] ?? 0) + (data[start + i] ?? 0) * weight;
    },
  };
}

/** A matrix of 4-bit integers, two per byte [rows, dimensions / 2]: the first in the low four bits, each stored as value + 8. Scales as for int8. */
export function int4Matrix(data: Uint8Array, dimensions: number): EmbeddingMatrix {
  const scaled = new Float64Array(16); // the values of a row, times its weight: 16 products for a row instead of one for each element
  return {
    precision: "int4",
    rows: data.length / (dimensions / 2),
    dimensions,
    bytes: data.byteLength,
    addRow(sum, index, weight) {
      const start = index * (dimensions / 2);
      for (let value = 0; value < 16; value++) scaled[value] = (value - 8) * weight;
      for (let i = 0, at = start; i < dimensions; i += 2, at++) {
        const pair = data[at] ?? 0;
        sum[i] = (sum[i] ?? 0) + (scaled[pair & 15] ?? 0);
        sum[i + 1] = (sum[i + 1] ?? 0) + (scaled[pair >> 4] ?? 0);
      }
    },
  };
}
