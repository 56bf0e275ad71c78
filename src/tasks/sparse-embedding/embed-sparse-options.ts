/** Options of the task `sparse-embedding`. */
import { type OptionTable, name, number, positiveInteger } from "../../runtime/options/option.ts";
import { textTaskOptions } from "../definition/task-options.ts";
import type { EmbedSparseOptions } from "./generated-embed-sparse-options.ts";

/** All options of `embedSparse`. Any other name is refused. */
export const embedSparseOptions: OptionTable<EmbedSparseOptions> = {
  topK: {
    type: positiveInteger,
    description: "Maximum number of weights per text; the largest are kept. Default: all",
    flag: ["--top-k <number>", "with --sparse: only the largest weights"],
  },
  threshold: {
    type: number,
    description: "Only weights above this value are kept. Default: 0",
    flag: ["--threshold <weight>", "with --sparse: only weights above it (default: 0)"],
  },
  prompt: {
    type: name,
    description:
      'Name of one of the model\'s prompts ("query", "document", ...), prepended to every text. With a model that has weights of tokens for queries (a Router of sentence-transformers), "query" and "document" also choose between these and the network. Default: the model\'s default prompt, if any',
    flag: ["--prompt <name>", "prompt of the model put before every text: query, document, ..."],
  },
  ...textTaskOptions,
};
