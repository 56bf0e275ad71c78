/** Options of the task `sparse-embedding`. */
import { type TaskOptions, number, positiveInteger } from "../shared/task-option.ts";
import { type TextTaskOptions, textTaskOptions } from "../shared/task-options.ts";

/** Options of `Runtime.embedSparse`. */
export interface EmbedSparseOptions extends TextTaskOptions {
  /** Maximum number of weights per text; the largest are kept. Default: all. */
  readonly topK?: number;
  /** Only weights above this value are kept. Default: 0. */
  readonly threshold?: number;
}

/** All options of `embedSparse`. Any other name is refused. */
export const embedSparseOptions: TaskOptions<EmbedSparseOptions> = {
  topK: { type: positiveInteger, flag: ["--top-k <number>", "with --sparse: only the largest weights"] },
  threshold: { type: number, flag: ["--threshold <weight>", "with --sparse: only weights above it (default: 0)"] },
  ...textTaskOptions,
};
