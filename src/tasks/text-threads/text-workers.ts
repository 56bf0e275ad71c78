/** What the tasks ask of threads that read long texts. */
import type { TextSettings } from "../../models/manifest.ts";
import { type TokenizerThreads, maxInlineUnits } from "../../tokenizers/tokenizer-threads.ts";
import type { ChunkSettings } from "../chunking/chunk-options.ts";
import type { ChunkedText } from "../chunking/chunk.ts";

export interface TextWorkers extends TokenizerThreads {
  /** Chunks of a text by a strategy that runs no model. LIMIT_EXCEEDED where they take too long or too much memory. */
  chunk(settings: TextSettings, text: string, asked: ChunkSettings): Promise<ChunkedText>;
  /** Ends the threads. */
  dispose(): Promise<void>;
}

/** What chunks long texts by a strategy that runs no model; undefined where the calling thread reads all texts. */
export function longTextChunker(
  readers: TextWorkers | undefined,
  tokenizer: TextSettings,
  settings: ChunkSettings,
): ((text: string) => Promise<ChunkedText> | undefined) | undefined {
  if (readers === undefined) return undefined;
  return (text) => (text.length <= maxInlineUnits ? undefined : readers.chunk(tokenizer, text, settings));
}
