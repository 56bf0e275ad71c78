/**
 * The loss of the fit: the mean squared difference between the student's and the teacher's cosine similarities, over all pairs of different texts of a batch, and its
 * gradient with respect to the token rows.
 *
 * With s the mean of a text's rows, u = s / |s| and E the matrix of differences (diagonal zero): dL/du_i = 4 / (B (B - 1)) sum_j E_ij u_j,
 * dL/ds = (dL/du - (dL/du . u) u) / |s|, and every row of the text receives dL/ds divided by the number of its tokens.
 */
import { dotProducts } from "./dot-products.ts";
import type { Matrix } from "./matrix.ts";

/** Tokenized training texts with the vectors that the teacher gives them. */
export interface TrainingTexts {
  /** For each text, the row indices of its tokens, at least one. */
  readonly tokens: readonly Uint32Array[];
  /** The vectors of the teacher, one row per text, of unit length. */
  readonly teacher: Matrix;
}

/**
 * Computes the training loss of a batch and its gradient: the mean squared difference between the student's and the teacher's
 * cosine similarities over all pairs of different texts. Buffers are allocated once.
 */
export class CosineLoss {
  /** Gradient of the last batch, in the shape of the rows. Rows that are not in `touched` are zero. */
  readonly gradient: Float64Array;
  /** Indices of the rows that the last batch used. */
  touched: number[] = [];
  readonly #dimensions: number;
  readonly #teacher: Float64Array;
  readonly #teacherCosines: Float64Array;
  readonly #student: Float64Array;
  readonly #transposed: Float64Array;
  readonly #cosines: Float64Array;
  readonly #slopes: Float64Array;
  readonly #lengths: Float64Array;
  readonly #seen: Uint8Array;

  /** `batchSize` and `dimensions` must be multiples of 4 (see `dotProducts`). */
  constructor(size: {
    readonly rowCount: number;
    readonly dimensions: number;
    readonly teacherDimensions: number;
    readonly batchSize: number;
  }) {
    const { rowCount, dimensions, teacherDimensions, batchSize } = size;
    this.#dimensions = dimensions;
    this.gradient = new Float64Array(rowCount * dimensions);
    this.#teacher = new Float64Array(batchSize * teacherDimensions);
    this.#teacherCosines = new Float64Array(batchSize * batchSize);
    this.#student = new Float64Array(batchSize * dimensions);
    this.#transposed = new Float64Array(batchSize * dimensions);
    this.#cosines = new Float64Array(batchSize * batchSize);
    this.#slopes = new Float64Array(batchSize * dimensions);
    this.#lengths = new Float64Array(batchSize);
    this.#seen = new Uint8Array(rowCount);
  }

  /** Returns the loss of the texts with the indices in `batch`, at most the batch size, and fills `gradient` and `touched`. */
  compute(rows: Matrix, text: TrainingTexts, batch: Uint32Array): number {
    this.#clear();
    // Rows of zeros pad a short batch to a multiple of 4: their cosines are zero for both models.
    const padded = Math.ceil(batch.length / 4) * 4;
    this.#gather(rows, text, batch, padded);
    const loss = this.#compare(text.teacher.columns, batch.length, padded);
    this.#scatter(text, batch);
    return loss;
  }

  #clear(): void {
    const dimensions = this.#dimensions;
    for (const row of this.touched) {
      this.#seen[row] = 0;
      this.gradient.fill(0, row * dimensions, (row + 1) * dimensions);
    }
    this.touched = [];
  }

  #gather(rows: Matrix, text: TrainingTexts, batch: Uint32Array, padded: number): void {
    const dimensions = this.#dimensions;
    const { columns, data } = text.teacher;
    this.#student.fill(0);
    this.#teacher.fill(0);
    for (const [i, index] of batch.entries()) {
      this.#teacher.set(data.subarray(index * columns, (index + 1) * columns), i * columns);
      const student = this.#student.subarray(i * dimensions, (i + 1) * dimensions);
      const tokens = text.tokens[index] ?? new Uint32Array();
      for (const row of tokens) {
        const start = row * dimensions;
        for (let d = 0; d < dimensions; d++) student[d] = (student[d] ?? 0) + (rows.data[start + d] ?? 0);
      }
      let square = 0;
      for (const value of student) square += value * value;
      const length = Math.sqrt(square);
      // A text whose rows cancel out has no direction and no gradient.
      const factor = length === 0 ? 0 : 1 / length;
      for (let d = 0; d < dimensions; d++) student[d] = (student[d] ?? 0) * factor;
      this.#lengths[i] = length / tokens.length;
    }
    for (let i = 0; i < padded; i++) {
      for (let d = 0; d < dimensions; d++) this.#transposed[d * padded + i] = this.#student[i * dimensions + d] ?? 0;
    }
  }

  #compare(teacherDimensions: number, count: number, padded: number): number {
    const dimensions = this.#dimensions;
    dotProducts(
      this.#teacher,
      this.#teacher,
      this.#teacherCosines,
      { rows: padded, columns: padded, length: teacherDimensions },
      true,
    );
    dotProducts(this.#student, this.#student, this.#cosines, { rows: padded, columns: padded, length: dimensions }, true);
    let squares = 0;
    for (let i = 0; i < padded; i++) {
      for (let j = 0, at = i * padded; j < padded; j++, at++) {
        const difference = i === j ? 0 : (this.#cosines[at] ?? 0) - (this.#teacherCosines[at] ?? 0);
        this.#cosines[at] = difference;
        squares += difference * difference;
      }
    }
    dotProducts(this.#cosines, this.#transposed, this.#slopes, { rows: padded, columns: dimensions, length: padded }, false);
    return count < 2 ? 0 : squares / (count * (count - 1));
  }

  #scatter(text: TrainingTexts, batch: Uint32Array): void {
    const dimensions = this.#dimensions;
    const factor = batch.length < 2 ? 0 : 4 / (batch.length * (batch.length - 1));
    for (const [i, index] of batch.entries()) {
      const tokens = text.tokens[index] ?? new Uint32Array();
      const length = this.#lengths[i] ?? 0;
      if (length === 0) continue;
      const start = i * dimensions;
      let along = 0;
      for (let d = 0; d < dimensions; d++) along += (this.#slopes[start + d] ?? 0) * (this.#student[start + d] ?? 0);
      const scale = factor / (length * tokens.length);
      for (const row of tokens) {
        if (this.#seen[row] === 0) {
          this.#seen[row] = 1;
          this.touched.push(row);
        }
        const target = row * dimensions;
        for (let d = 0; d < dimensions; d++) {
          const slope = (this.#slopes[start + d] ?? 0) - along * (this.#student[start + d] ?? 0);
          this.gradient[target + d] = (this.gradient[target + d] ?? 0) + slope * scale;
        }
      }
    }
  }
}
