/** Moves token rows until the student's cosines between texts are like the teacher's. */
import { setImmediate } from "node:timers/promises";
import { throwIfAborted } from "../errors.ts";
import { Adam } from "./adam.ts";
import { CosineLoss } from "./cosine-loss.ts";
import type { TrainingTexts } from "./cosine-loss.ts";
import { rowOf, zeroMatrix } from "./matrix.ts";
import type { Matrix } from "./matrix.ts";
import { randomIntegers, shuffledIndices } from "./random.ts";

export interface FitOptions {
  /** Times every text is seen. */
  readonly passes: number;
  /** Texts compared with one another at a time; a multiple of 4. */
  readonly batchSize: number;
  readonly learningRate: number;
  /** Decides the order of the texts. */
  readonly seed: number;
  readonly signal?: AbortSignal;
  /** Called after every batch with the loss of that batch. */
  readonly onProgress?: (done: number, total: number, loss: number) => void;
}

/** Changes `rows` in place; rows that no text uses stay as they are. Returns the mean loss of each pass. */
export async function fitRows(rows: Matrix, text: TrainingTexts, options: FitOptions): Promise<number[]> {
  const { passes, batchSize, learningRate, seed, signal, onProgress } = options;
  // Only rows that occur are copied out and trained: the optimizer needs several times their memory.
  const used = [...new Set(text.tokens.flatMap((tokens) => [...tokens]))].sort((a, b) => a - b);
  const place = new Map(used.map((row, index) => [row, index]));
  const trained = zeroMatrix(used.length, rows.columns);
  for (const [index, row] of used.entries()) rowOf(trained, index).set(rowOf(rows, row));
  const local: TrainingTexts = { ...text, tokens: text.tokens.map((tokens) => tokens.map((row) => place.get(row) ?? 0)) };

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
  for (const [index, row] of used.entries()) rowOf(rows, row).set(rowOf(trained, index));
  return losses;
}
