/** Definition of the task `chunking`. */
import type { ChunkOptions } from "./chunk-options.ts";
import type { ChunkedTexts } from "./chunk.ts";
import { type Task, defineTask, tokenizerFiles } from "../definition/define-task.ts";

/** Chunks of long texts. Most strategies run on the model's tokenizer alone. */
export const chunkingTask: Task<readonly string[], ChunkOptions, ChunkedTexts> = defineTask(
  {
    task: "chunking",
    verb: "chunk",
    command: "chunk",
    route: "/api/chunk",
    defaultModel: "builtin",
    input: "long texts",
    output: "parts of at most so many tokens",
    models: "any with a tokenizer",
    files: tokenizerFiles,
    pipeline: false,
  },
  async () => {
    const [{ chunkWithModel, chunkWithTokenizer }, { chunkOptions }] = await Promise.all([
      import("./run-chunking.ts"),
      import("./chunk-options.ts"),
    ]);
    return { options: chunkOptions, tokenizerCall: chunkWithTokenizer, run: chunkWithModel };
  },
);
