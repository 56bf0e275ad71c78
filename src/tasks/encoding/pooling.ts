/**
 * Pooling of token vectors into one vector per text, as sentence-transformers' `Pooling` module defines the modes, and L2 normalization.
 * Sums are accumulated in double precision.
 */
import type { Pooling } from "../../models/manifest.ts";
import { computeMean } from "../../hosts/output-reduction.ts";

/** Token vectors of one text inside the output of a batch: row-major `[tokens, dimensions]`, starting at element `offset` of `data`. */
export interface TokenRows {
  readonly data: Float32Array;
  readonly offset: number;
  readonly dimensions: number;
  /** Tokens to pool: from `first` up to but not including `end`. */
  readonly first: number;
  readonly end: number;
}

type Pool = (rows: TokenRows) => Float32Array;

/** The pooling modes; each returns a new vector of `dimensions` floats, zeros for a text without tokens. */
export const poolingFunctions: Readonly<Record<Exclude<Pooling, "none">, Pool>> = {
  mean: ({ data, offset, dimensions, ...range }) => computeMean(data, offset, dimensions, range),
  // The first token even where the prompt is excluded: sentence-transformers masks the prompt for mean and max only.
  cls: (rows) => getRow(rows, 0),
  last: (rows) => getRow(rows, rows.end - 1),
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

/** Copies the token vectors of a text: `[end - first, dimensions]`, row-major. */
export function allRows({ data, offset, dimensions, first, end }: TokenRows): Float32Array {
  return data.slice(offset + first * dimensions, offset + end * dimensions);
}

/** Copies one token vector; zeros for a text without tokens. */
function getRow({ data, offset, dimensions, end }: TokenRows, row: number): Float32Array {
  if (end === 0) return new Float32Array(dimensions);
  const start = offset + row * dimensions;
  return data.slice(start, start + dimensions);
}

/** Scales a vector in place to L2 norm 1 and returns it. A zero vector is left unchanged. */
export function normalizeRows(vector: Float32Array): Float32Array {
  let squares = 0;
  for (let index = 0; index < vector.length; index += 1) squares += (vector[index] ?? 0) ** 2; // four times as fast as for-of
  if (squares === 0) return vector;
  const scale = 1 / Math.sqrt(squares);
  for (let index = 0; index < vector.length; index += 1) vector[index] = (vector[index] ?? 0) * scale;
  return vector;
}

/** Joins vectors of one length into `[rows, size]`, row-major. */
export function joinRows(rows: readonly Float32Array[]): Float32Array {
  const size = rows[0]?.length ?? 0;
  const joined = new Float32Array(rows.length * size);
  for (const [index, row] of rows.entries()) joined.set(row, index * size);
  return joined;
}
