/** Measures the stages of a distillation and reports their progress. */
import { omitUndefined } from "../contract/checked.ts";
import type { DistillProgress, DistillStage } from "./distill-options.ts";

/** Runs the stages of a distillation one after the other, measures their durations and reports progress. */
export class StageTimer {
  /** Duration of each stage that has ended. */
  readonly milliseconds: Partial<Record<DistillStage, number>> = {};
  readonly #report: (progress: DistillProgress) => void;

  constructor(report: ((progress: DistillProgress) => void) | undefined) {
    this.#report = report ?? (() => {});
  }

  /** Runs `work` as a stage, measures it, and reports its progress. */
  async time<T>(
    stage: DistillStage,
    work: (onProgress: (done: number, total: number, loss?: number) => void) => Promise<T>,
  ): Promise<T> {
    const start = performance.now();
    let steps = 0;
    this.#report({ stage, done: 0, total: 1 });
    const result = await work((done, total, loss) => {
      steps++;
      this.#report({ stage, done, total, ...omitUndefined({ loss }) });
    });
    if (steps === 0) this.#report({ stage, done: 1, total: 1 });
    this.milliseconds[stage] = performance.now() - start;
    return result;
  }
}
