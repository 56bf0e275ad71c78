/** Pairwise similarity of two lists of vectors, by the four measures of sentence-transformers (`SimilarityFunction`). Pure functions. */

/**
 * Similarity measure of two vectors: cosine, dot product, or the negative Euclidean or Manhattan distance. Higher is more similar in all four.
 */
export type SimilarityMetric = "cosine" | "dot" | "euclidean" | "manhattan";

/** All values of the option `metric`. */
export const similarityMetrics: readonly SimilarityMetric[] = ["cosine", "dot", "euclidean", "manhattan"];

/** Vectors of equal length: `data` is row-major `[rows, dimensions]`. Float64, because V8 converts every float32 it loads. */
export interface VectorTable {
  readonly data: Float64Array;
  readonly rows: number;
  readonly dimensions: number;
}

/** Copies vectors into a table. `unit`: each is scaled to L2 norm 1; a zero vector stays zero. */
export function vectorTable(vectors: readonly Float32Array[], unit: boolean): VectorTable {
  const dimensions = vectors[0]?.length ?? 0;
  const data = new Float64Array(vectors.length * dimensions);
  for (const [row, vector] of vectors.entries()) {
    const length = unit ? Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0)) || 1 : 1;
    for (const [axis, value] of vector.entries()) data[row * dimensions + axis] = value / length;
  }
  return { data, rows: vectors.length, dimensions };
}

/** The similarities of vector `row` of `a` with every vector of `b`. For "cosine" both tables must hold unit vectors. */
export function similarityRow(a: VectorTable, row: number, b: VectorTable, metric: SimilarityMetric): Float32Array {
  const scores = new Float32Array(b.rows);
  const whole = b.rows - (b.rows % 4);
  for (let other = 0; other < whole; other += 4) fourScores[metric](a, row, b, other, scores);
  for (let other = whole; other < b.rows; other += 1) scores[other] = oneScore[metric](a, row, b, other);
  return scores;
}

type FourScores = (a: VectorTable, row: number, b: VectorTable, other: number, scores: Float32Array) => void;
type OneScore = (a: VectorTable, row: number, b: VectorTable, other: number) => number;

/** Compares with four vectors of `b` at once: each value of `a` is loaded once, and the four sums are independent of each other. */
const fourScores: Readonly<Record<SimilarityMetric, FourScores>> = {
  cosine: fourProducts,
  dot: fourProducts,
  euclidean: (a, row, b, other, scores) => {
    const size = a.dimensions;
    const [from, at] = [row * size, other * size];
    let [s0, s1, s2, s3] = [0, 0, 0, 0];
    for (let axis = 0; axis < size; axis += 1) {
      const value = a.data[from + axis] ?? 0;
      const d0 = value - (b.data[at + axis] ?? 0);
      const d1 = value - (b.data[at + size + axis] ?? 0);
      const d2 = value - (b.data[at + 2 * size + axis] ?? 0);
      const d3 = value - (b.data[at + 3 * size + axis] ?? 0);
      s0 += d0 * d0;
      s1 += d1 * d1;
      s2 += d2 * d2;
      s3 += d3 * d3;
    }
    put(scores, other, -Math.sqrt(s0), -Math.sqrt(s1), -Math.sqrt(s2), -Math.sqrt(s3));
  },
  manhattan: (a, row, b, other, scores) => {
    const size = a.dimensions;
    const [from, at] = [row * size, other * size];
    let [s0, s1, s2, s3] = [0, 0, 0, 0];
    for (let axis = 0; axis < size; axis += 1) {
      const value = a.data[from + axis] ?? 0;
      s0 += Math.abs(value - (b.data[at + axis] ?? 0));
      s1 += Math.abs(value - (b.data[at + size + axis] ?? 0));
      s2 += Math.abs(value - (b.data[at + 2 * size + axis] ?? 0));
      s3 += Math.abs(value - (b.data[at + 3 * size + axis] ?? 0));
    }
    put(scores, other, -s0, -s1, -s2, -s3);
  },
};

function fourProducts(a: VectorTable, row: number, b: VectorTable, other: number, scores: Float32Array): void {
  const size = a.dimensions;
  const [from, at] = [row * size, other * size];
  let [s0, s1, s2, s3] = [0, 0, 0, 0];
  for (let axis = 0; axis < size; axis += 1) {
    const value = a.data[from + axis] ?? 0;
    s0 += value * (b.data[at + axis] ?? 0);
    s1 += value * (b.data[at + size + axis] ?? 0);
    s2 += value * (b.data[at + 2 * size + axis] ?? 0);
    s3 += value * (b.data[at + 3 * size + axis] ?? 0);
  }
  put(scores, other, s0, s1, s2, s3);
}

function put(scores: Float32Array, at: number, s0: number, s1: number, s2: number, s3: number): void {
  scores[at] = s0;
  scores[at + 1] = s1;
  scores[at + 2] = s2;
  scores[at + 3] = s3;
}

/** Compares with one vector: for the remainder of `rows / 4`. Sums run in the same order as above, so that a score does not depend on its row. */
const oneScore: Readonly<Record<SimilarityMetric, OneScore>> = {
  cosine: product,
  dot: product,
  euclidean: (a, row, b, other) => -Math.sqrt(summed(a, row, b, other, (x, y) => (x - y) * (x - y))),
  manhattan: (a, row, b, other) => -summed(a, row, b, other, (x, y) => Math.abs(x - y)),
};

function product(a: VectorTable, row: number, b: VectorTable, other: number): number {
  return summed(a, row, b, other, (x, y) => x * y);
}

function summed(a: VectorTable, row: number, b: VectorTable, other: number, term: (x: number, y: number) => number): number {
  let sum = 0;
  for (let axis = 0; axis < a.dimensions; axis += 1)
    sum += term(a.data[row * a.dimensions + axis] ?? 0, b.data[other * a.dimensions + axis] ?? 0);
  return sum;
}
