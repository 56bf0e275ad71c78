/**
 * The embedding matrix, one row per word, as it lies in the file. A row is decoded while it is added, so an int4 model stays int4
 * in memory. Each kind of storage has its own tight loop; the calls between are one per token.
 */
import type { Precision } from "../../backend.ts";
import { float16Table } from "../../formats/floats/float16.ts";

/** A matrix of which rows are added up. */
export interface EmbeddingMatrix {
  readonly precision: Precision;
  readonly rows: number;
  readonly dimensions: number;
  /** What the matrix and its tables occupy. */
  readonly bytes: number;
  /** Adds `weight` times row `index` to `sum`, which has `dimensions` elements. */
  addRow(sum: Float64Array, index: number, weight: number): void;
}

/** float32 [count, dimensions]. */
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

/** float16 bits [count, dimensions]. */
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

/** int8 [count, dimensions]; a row's scale is its token's weight. */
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

/** Two values in a byte [count, dimensions / 2], the first in the low four bits, each stored as value + 8; the scale as for int8. */
export function int4Matrix(data: Uint8Array, dimensions: number): EmbeddingMatrix {
  return {
    precision: "int4",
    rows: data.length / (dimensions / 2),
    dimensions,
    bytes: data.byteLength,
    addRow(sum, index, weight) {
      const start = index * (dimensions / 2);
      for (let i = 0, at = start; i < dimensions; i += 2, at++) {
        const pair = data[at] ?? 0;
        sum[i] = (sum[i] ?? 0) + ((pair & 15) - 8) * weight;
        sum[i + 1] = (sum[i + 1] ?? 0) + ((pair >> 4) - 8) * weight;
      }
    },
  };
}
