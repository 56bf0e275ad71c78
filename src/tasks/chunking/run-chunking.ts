/** Runs the task `chunking` on a loaded model, or on a tokenizer for strategies that run no model. */
import type { Encoder } from "../batching/run-encodings.ts";
import type { TokenizerCall } from "../definition/task.ts";
import { longTextChunker } from "../text-threads/text-workers.ts";
import { chunkSettings, runsModel } from "./chunk-options.ts";
import type { ChunkOptions } from "./generated-chunk-options.ts";
import { type ChunkedTexts, chunkTexts } from "./chunk.ts";

/** The call for a strategy that runs no model; undefined for one that runs it. Throws INPUT_INVALID for invalid options. */
export function chunkWithTokenizer(options: ChunkOptions): TokenizerCall<readonly string[], ChunkedTexts> | undefined {
  const settings = chunkSettings(options);
  if (runsModel(settings.strategy)) return undefined;
  return {
    reason: `the strategy ${settings.strategy}`,
    alternative: "choose a strategy that does: semantic, late or token-classification",
    run: async ({ tokenizer, text, threads }, texts) => ({
      results: await chunkTexts(texts, tokenizer, settings, undefined, longTextChunker(threads, text, settings)),
    }),
  };
}

/** Chunks texts with a strategy that runs the model. Throws INPUT_INVALID for invalid options, and errors of the model's task. */
export async function chunkWithModel(encoder: Encoder, texts: readonly string[], options: ChunkOptions): Promise<ChunkedTexts> {
  const { createChunkModel } = await import("./create-chunk-model.ts"); // a page that only cuts text does not download it
  const settings = chunkSettings(options);
  return { results: await chunkTexts(texts, encoder.tokenizer, settings, createChunkModel(encoder, settings)) };
}
