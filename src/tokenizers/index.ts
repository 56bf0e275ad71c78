/** Tokenizers in TypeScript, equal to Hugging Face's Rust library `tokenizers`: loaded from a model's tokenizer.json or GGUF file. */
import { getMessage } from "../contract/errors.ts";
import type { TextSettings } from "../models/manifest.ts";
import { applyTokenizerConfig } from "./config/tokenizer-config.ts";
import { readTokenizerJson, type TokenizerJson, tokenizerInvalid } from "./config/tokenizer-json.ts";
import type { TokenizerThreads } from "./tokenizer-threads.ts";
import type { TextTokenizer } from "./text-tokenizer.ts";
import type { Tokenizer } from "./tokenizer.ts";

export { type OffsetUnit, convertOffsets, convertSpans, offsetUnits } from "./text-offsets.ts";
export type {
  TokenDecodeOptions,
  EncodeOptions,
  Encoding,
  Frame,
  PadOptions,
  PaddedBatch,
  TokenIds,
  Tokenizer,
  TruncationStrategy,
} from "./tokenizer.ts";

/**
 * Loads the tokenizer of a model (`Tokenizer.from_file` in the Rust library). `threads`: worker threads for long texts; default: none. Throws
 * TOKENIZER_INVALID if the file is missing, is not JSON, or has a component that is not supported.
 */
export function loadTokenizer(settings: TextSettings, threads?: TokenizerThreads): Promise<Tokenizer> {
  return loadTextTokenizer(settings, threads);
}

/** Reads a tokenizer, whatever its file is. The readers of files other than tokenizer.json are imported on demand. */
async function readTokenizer(settings: TextSettings): Promise<TokenizerJson> {
  const { tokenizerPath, tokenizerShown, tokenizerFormat } = settings;
  if (tokenizerFormat === undefined) return await readTokenizerJson(tokenizerPath, tokenizerShown);
  if (tokenizerFormat === "gguf")
    return await (await import("./gguf/tokenizer-json.ts")).readGgufTokenizer(tokenizerPath, tokenizerShown);
  return await (await import("./vocabulary-files/index.ts")).readVocabularyFiles(settings);
}

/** Loads a tokenizer as `loadTokenizer` does, with the internal methods that worker threads need. */
export async function loadTextTokenizer(settings: TextSettings, threads?: TokenizerThreads): Promise<TextTokenizer> {
  const json = await readTokenizer(settings);
  // Imported on demand: a program that processes no text does not load it.
  const { TextTokenizer } = await import("./text-tokenizer.ts");
  try {
    return new TextTokenizer(applyTokenizerConfig(json, settings), settings, threads);
  } catch (error) {
    throw tokenizerInvalid(settings.tokenizerShown, `cannot be used: ${getMessage(error)}`, error);
  }
}
