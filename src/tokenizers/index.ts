/** Text to tokens, from the model's own tokenizer.json. */
import { messageOf } from "../errors.ts";
import type { TextSettings } from "../models/manifest.ts";
import { applyTokenizerConfig } from "./tokenizer-config.ts";
import { readTokenizerJson, tokenizerInvalid } from "./tokenizer-json.ts";
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
export async function loadTokenizer(settings: TextSettings): Promise<Tokenizer> {
  const json = await readTokenizerJson(settings.tokenizerPath, settings.tokenizerShown);
  // Imported here, so that a program that takes no text does not pay for it.
  const { TextTokenizer } = await import("./text-tokenizer.ts");
  try {
    return new TextTokenizer(applyTokenizerConfig(json, settings), settings);
  } catch (error) {
    throw tokenizerInvalid(settings.tokenizerShown, `is not a tokenizer that can be used: ${messageOf(error)}`, error);
  }
}
