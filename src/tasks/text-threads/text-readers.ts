/** What the tasks ask of threads that read long texts. */
import type { TextSettings } from "../../models/manifest.ts";
import type { TextThreads } from "../../tokenizers/text-threads.ts";
import type { ChunkSettings } from "../chunk/chunk-options.ts";
import type { ChunkedText } from "../chunk/chunk.ts";

export interface TextReaders extends TextThreads {
  /** Chunks of a text by a strategy that runs no model. LIMIT_EXCEEDED where they take too long or too much memory. */
  chunk(settings: TextSettings, text: string, asked: ChunkSettings): Promise<ChunkedText>;
  /** Ends the threads. */
  dispose(): Promise<void>;
}
