/** Definition of the task `feature-extraction`. */
import type { EmbedOptions } from "./embed-options.ts";
import type { Embeddings } from "./embeddings.ts";
import { type Task, defineTask, tokenizerFiles } from "../shared/define-task.ts";

/** The task `feature-extraction`: dense vectors of texts. */
export const embeddingTask: Task<readonly string[], EmbedOptions, Embeddings> = defineTask(
  {
    task: "feature-extraction",
    verb: "embed",
    command: "embed",
    takes: "texts",
    gives: "a vector per text, or per token",
    models: "modules.json, a static embedding, or token vectors as output",
    files: tokenizerFiles,
    pipeline: true,
  },
  async () => {
    const [{ embed }, { embedOptionNames }] = await Promise.all([import("./embed.ts"), import("./embed-options.ts")]);
    return { optionNames: embedOptionNames, run: embed };
  },
);
