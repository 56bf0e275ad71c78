/** Trains the token rows so that the cosine similarities between texts approach the teacher's. */
import { setImmediate } from "node:timers/promises";
import { required } from "../contract/checked.ts";
import { throwIfAborted } from "../contract/errors.ts";
import { Adam } from "./adam.ts";
import { CosineLoss } from "./cosine-loss.ts";
import type { TrainingTexts } from "./cosine-loss.ts";
import { getRow, zeroMatrix } from "./matrix.ts";
import type { Matrix } from "./matrix.ts";
import { randomIntegers, shuffledIndices } from "./random.ts";

/** Options of fitting token vectors to a teacher's sentence vectors. */
export interface FitOptions {
  /** Number of passes over the texts (epochs). */
  readonly passes: number;
  /** Batch size of the loss. A multiple of 4. */
  readonly batchSize: number;
  /** Learning rate of Adam. */
  readonly learningRate: number;
  /** Seed of the random order of the texts. */
  readonly seed: number;
  readonly signal?: AbortSignal;
  /** Called after every batch with the loss of that batch. */
  readonly onProgress?: (done: number, total: number, loss: number) => void;
}

/**
 * Trains the token vectors `rows` in place with Adam and returns the mean loss of each pass. Rows that no text uses stay
 * unchanged. Throws ABORTED.
 */
export async function fitRows(rows: Matrix, text: TrainingTexts, options: FitOptions): Promise<number[]> {
  const { passes, batchSize, learningRate, seed, signal, onProgress } = options;
  // Only rows that occur in the texts are copied and trained: the optimizer needs several times their memory.
  const used = [...new Set(text.tokens.flatMap((tokens) => [...tokens]))].sort((a, b) => a - b);
  const indexOfRow = new Map(used.map((row, index) => [row, index]));
  const trained = zeroMatrix(used.length, rows.columns);
  for (const [index, row] of used.entries()) getRow(trained, index).set(getRow(rows, row));
  const local: TrainingTexts = {
    ...text,
    tokens: text.tokens.map((tokens) => tokens.map((row) => required(indexOfRow.get(row), "a row of the training texts"))),
  };

  const size = { rowCount: used.length, dimensions: rows.columns, teacherDimensions: text.teacher.columns, batchSize };
  const objective = new CosineLoss(size);
  const adam = new Adam(trained.data.length);
  const random = randomIntegers(seed);
  const batchesPerPass = Math.ceil(text.tokens.length / batchSize);
  const losses: number[] = [];
  for (let pass = 0; pass < passes; pass++) {
    const order = shuffledIndices(text.tokens.length, random);
    let sum = 0;
    for (let batch = 0; batch < batchesPerPass; batch++) {
      throwIfAborted(signal);
      const loss = objective.compute(trained, local, order.subarray(batch * batchSize, (batch + 1) * batchSize));
      adam.step(trained, objective.gradient, objective.touched, learningRate);
      sum += loss;
      onProgress?.(pass * batchesPerPass + batch + 1, passes * batchesPerPass, loss);
      await setImmediate();
    }
    losses.push(sum / batchesPerPass);
  }
  for (const [index, row] of used.entries()) getRow(rows, row).set(getRow(trained, index));
  return losses;
}
