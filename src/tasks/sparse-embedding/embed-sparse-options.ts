/** Options of the task `sparse-embedding`. */
import { type OptionTable, name, number, positiveInteger } from "../../runtime/options/option.ts";
import { type TextTaskOptions, textTaskOptions } from "../definition/task-options.ts";

/** Options of `Runtime.embedSparse`. */
export interface EmbedSparseOptions extends TextTaskOptions {
  /** Maximum number of weights per text; the largest are kept. Default: all. */
  readonly topK?: number;
  /**
   * Name of one of the model's prompts ("query", "document", ...), prepended to every text. With a model that has weights of tokens for queries (a Router of
   * sentence-transformers), "query" and "document" also choose between these and the network. Default: the model's default prompt, if any.
   */
  readonly prompt?: string;
  /** Only weights above this value are kept. Default: 0. */
  readonly threshold?: number;
}

/** All options of `embedSparse`. Any other name is refused. */
export const embedSparseOptions: OptionTable<EmbedSparseOptions> = {
  topK: { type: positiveInteger, flag: ["--top-k <number>", "with --sparse: only the largest weights"] },
  threshold: { type: number, flag: ["--threshold <weight>", "with --sparse: only weights above it (default: 0)"] },
  prompt: { type: name, flag: ["--prompt <name>", "prompt of the model put before every text: query, document, ..."] },
  ...textTaskOptions,
};
