/**
 * From token vectors to one vector per text, as sentence-transformers defines each kind (Pooling module), and the finishing touches:
 * Matryoshka truncation and unit length. Sums run in double precision.
 */
import type { Pooling } from "../../models/manifest.ts";
import { meanOf } from "../../hosts/output-reduction.ts";

/** Token vectors of one text inside a batch: rows of `dimensions` values, starting at `offset` in `data`. */
export interface TokenRows {
  readonly data: Float32Array;
  readonly offset: number;
  readonly dimensions: number;
  /** Rows that take part: from `first`, up to but not including `end`. */
  readonly first: number;
  readonly end: number;
}

type Pool = (rows: TokenRows) => Float32Array;

export const poolingFunctions: Readonly<Record<Exclude<Pooling, "none">, Pool>> = {
  mean: ({ data, offset, dimensions, ...range }) => meanOf(data, offset, dimensions, range),
  // The first token of the text, prompt or not: sentence-transformers masks the prompt out for the other kinds only.
  cls: (rows) => rowOf(rows, 0),
  last: (rows) => rowOf(rows, rows.end - 1),
  max({ data, offset, dimensions, first, end }) {
    const highest = new Float32Array(dimensions).fill(end > first ? Number.NEGATIVE_INFINITY : 0);
    for (let row = first; row < end; row += 1) {
      const start = offset + row * dimensions;
      for (let column = 0; column < dimensions; column += 1) {
        const value = data[start + column] ?? 0;
        if (value > (highest[column] ?? 0)) highest[column] = value;
      }
    }
    return highest;
  },
};

/** All rows of a text, one after the other. */
export function allRows({ data, offset, dimensions, first, end }: TokenRows): Float32Array {
  return data.slice(offset + first * dimensions, offset + end * dimensions);
}

/** Zeros for a text without tokens, which has no row of its own. */
function rowOf({ data, offset, dimensions, end }: TokenRows, row: number): Float32Array {
  if (end === 0) return new Float32Array(dimensions);
  const start = offset + row * dimensions;
  return data.slice(start, start + dimensions);
}

/** Scales to unit length in place; a vector of zeros stays as it is. */
export function normalize(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  if (squares === 0) return vector;
  const scale = 1 / Math.sqrt(squares);
  for (let index = 0; index < vector.length; index += 1) vector[index] = (vector[index] ?? 0) * scale;
  return vector;
}
