/** The Adam optimizer (Kingma and Ba 2015, https://arxiv.org/abs/1412.6980) for a matrix of which each step changes only a few rows. */
import type { Matrix } from "./matrix.ts";

const decay1 = 0.9;
const decay2 = 0.999;
const epsilon = 1e-8;

/**
 * The Adam optimizer for a matrix. Each step changes only a few rows; the moments of rows without a gradient in a step stay unchanged, as in PyTorch's
 * SparseAdam.
 */
export class Adam {
  readonly #first: Float32Array;
  readonly #second: Float32Array;
  /** decay ** steps, kept as running products. */
  #power1 = 1;
  #power2 = 1;

  constructor(size: number) {
    this.#first = new Float32Array(size);
    this.#second = new Float32Array(size);
  }

  /** One step: updates the rows listed in `touched`. `gradient` has the shape of `rows`. */
  step(rows: Matrix, gradient: Float64Array, touched: readonly number[], learningRate: number): void {
    this.#power1 *= decay1;
    this.#power2 *= decay2;
    const rate = (learningRate * Math.sqrt(1 - this.#power2)) / (1 - this.#power1);
    const { columns, data } = rows;
    for (const row of touched) {
      for (let at = row * columns; at < (row + 1) * columns; at++) {
        const slope = gradient[at] ?? 0;
        const first = decay1 * (this.#first[at] ?? 0) + (1 - decay1) * slope;
        const second = decay2 * (this.#second[at] ?? 0) + (1 - decay2) * slope * slope;
        this.#first[at] = first;
        this.#second[at] = second;
        data[at] = (data[at] ?? 0) - (rate * first) / (Math.sqrt(second) + epsilon);
      }
    }
  }
}
