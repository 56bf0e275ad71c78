/** Text to tokens, from the model's own tokenizer.json. */
import { messageOf } from "../errors.ts";
import type { TextSettings } from "../models/manifest.ts";
import { applyTokenizerConfig } from "./config/tokenizer-config.ts";
import { readTokenizerJson, tokenizerInvalid } from "./config/tokenizer-json.ts";
import type { TokenizerThreads } from "./tokenizer-threads.ts";
import type { TextTokenizer } from "./text-tokenizer.ts";
import type { Tokenizer } from "./tokenizer.ts";

export { type OffsetUnit, convertOffsets, offsetUnits } from "./text-offsets.ts";
export type {
  DecodeOptions,
  EncodeOptions,
  Encoding,
  Frame,
  PadOptions,
  PaddedBatch,
  TokenIds,
  Tokenizer,
  TruncationStrategy,
} from "./tokenizer.ts";

/** Loads the tokenizer of a model. Throws TOKENIZER_INVALID when its file is missing, not JSON, or has a part that is not known. */
export function loadTokenizer(settings: TextSettings, threads?: TokenizerThreads): Promise<Tokenizer> {
  return loadTextTokenizer(settings, threads);
}

/** The same with what only this program's own threads need. `threads`: read long texts. Default: the calling thread does. */
export async function loadTextTokenizer(settings: TextSettings, threads?: TokenizerThreads): Promise<TextTokenizer> {
  const json = await readTokenizerJson(settings.tokenizerPath, settings.tokenizerShown);
  // Imported here, so that a program that takes no text does not pay for it.
  const { TextTokenizer } = await import("./text-tokenizer.ts");
  try {
    return new TextTokenizer(applyTokenizerConfig(json, settings), settings, threads);
  } catch (error) {
    throw tokenizerInvalid(settings.tokenizerShown, `is not a tokenizer that can be used: ${messageOf(error)}`, error);
  }
}
