/** Definition of the task `feature-extraction`. */
import type { EmbedOptions, QuantizedEmbedOptions } from "./embed-options.ts";
import type { Embeddings } from "./embeddings.ts";
import type { EmbedOutputsOptions } from "./output-options.ts";
import type { EmbeddingOutputs } from "../sparse-embedding/embed-outputs.ts";
import type { QuantizedEmbeddings } from "./embed-quantized.ts";
import { type Task, defineTask, tokenizerFiles } from "../definition/define-task.ts";

/** The task `feature-extraction`: dense vectors of texts, quantized if the options name a precision other than float32. */
export const embeddingTask: Task<
  readonly string[],
  EmbedOptions | QuantizedEmbedOptions | EmbedOutputsOptions,
  Embeddings | QuantizedEmbeddings | EmbeddingOutputs
> = defineTask(
  {
    task: "feature-extraction",
    verb: "embed",
    command: "embed",
    route: "/api/embed",
    defaultModel: "builtin",
    input: "texts",
    output: "a vector per text, or per token; with `outputs` several forms",
    models: "modules.json, a static embedding, or token vectors as output",
    files: tokenizerFiles,
    pipeline: true,
  },
  async () => {
    const [{ embed }, { embedOptions, isQuantized }, { checkOutputs, hasOutputs }] = await Promise.all([
      import("./embed.ts"),
      import("./embed-options.ts"),
      import("./output-options.ts"),
    ]);
    const quantizing = () => import("./embed-quantized.ts"); // only pages that quantize download it
    const outputting = () => import("../sparse-embedding/embed-outputs.ts");
    return {
      options: embedOptions,
      check: async (options) => {
        if (hasOutputs(options)) checkOutputs(options);
        else if (isQuantized(options)) (await quantizing()).checkPrecision(options);
      },
      run: async (encoder, texts, options) => {
        if (hasOutputs(options)) return (await outputting()).embedOutputs(encoder, texts, options);
        return isQuantized(options)
          ? (await quantizing()).embedQuantized(encoder, texts, options)
          : embed(encoder, texts, options);
      },
    };
  },
);
