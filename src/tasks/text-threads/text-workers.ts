/** Interface of the worker threads that process long texts and chat templates. */
import type { TextSettings } from "../../models/manifest.ts";
import type { RenderCall } from "../../templates/render-call.ts";
import { type TokenizerThreads, maxInlineUnits } from "../../tokenizers/tokenizer-threads.ts";
import type { ChunkSettings } from "./chunked-text.ts";
import type { ChunkedText } from "./chunked-text.ts";

/** Worker threads that tokenize, decode and chunk long texts, and render chat templates. */
export interface TextWorkers extends TokenizerThreads {
  /** Chunks a text with a strategy that runs no model. Throws LIMIT_EXCEEDED if it takes too long or too much memory. */
  chunk(settings: TextSettings, text: string, options: ChunkSettings): Promise<ChunkedText>;
  /**
   * Renders a chat template. `owner` identifies the model: its calls occupy at most one thread, and models take turns. Throws errors of `TemplateEngine`, and
   * MODEL_INVALID for a template that takes too much time or memory.
   */
  render(owner: object, call: RenderCall): Promise<string>;
  /** Starts the thread of the next `render` if none runs, so that a chat does not wait for it once its model is loaded. */
  prepareRender(): void;
  /** Terminates the threads. */
  dispose(): Promise<void>;
}

/**
 * Returns a function that chunks a long text on a worker thread, and returns undefined for a text that is short enough for the calling thread.
 * Undefined if there are no threads.
 */
export function longTextChunker(
  readers: TextWorkers | undefined,
  tokenizer: TextSettings,
  settings: ChunkSettings,
): ((text: string) => Promise<ChunkedText> | undefined) | undefined {
  if (readers === undefined) return undefined;
  return (text) => (text.length <= maxInlineUnits ? undefined : readers.chunk(tokenizer, text, settings));
}
