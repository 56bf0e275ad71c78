/** Text to tokens, from the model's own tokenizer.json. */
import type { TextSettings } from "../models/manifest.ts";
import { messageOf } from "../errors.ts";
import { frameOf } from "./frame.ts";
import { TokenizerOverLibrary } from "./library-tokenizer.ts";
import type { LibraryTokenizer } from "./library-tokenizer.ts";
import { mendForLibrary } from "./mend.ts";
import { applyTokenizerConfig, padTokenOf } from "./tokenizer-config.ts";
import { readTokenizerJson, tokenizerInvalid } from "./tokenizer-json.ts";
import type { TokenizerJson } from "./tokenizer-json.ts";
import type { Tokenizer } from "./tokenizer.ts";

export type { Encoding, Tokenizer } from "./tokenizer.ts";

/** The part of the library that is used. */
interface TokenizerLibrary {
  readonly Tokenizer: new (json: object, config: object) => LibraryTokenizer;
}

/** Loads the tokenizer of a model. Throws TOKENIZER_INVALID when its file is missing, not JSON, or not a tokenizer the library knows. */
export async function loadTokenizer(settings: TextSettings): Promise<Tokenizer> {
  const json = await readTokenizerJson(settings.tokenizerPath, settings.tokenizerShown);
  // Imported here, so that a program that embeds nothing does not pay for it.
  const library = (await import("@huggingface/tokenizers")) as TokenizerLibrary;
  try {
    const tokenizer = new library.Tokenizer(mendForLibrary(applyTokenizerConfig(json, settings)), libraryConfig(json));
    const frame = settings.specialTokens ? frameOf(tokenizer, json.post_processor) : { prefix: [], suffix: [] };
    return new TokenizerOverLibrary(tokenizer, settings, { padId: padIdOf(tokenizer, json, settings), frame });
  } catch (error) {
    throw tokenizerInvalid(settings.tokenizerShown, `is not a tokenizer that can be used: ${messageOf(error)}`, error);
  }
}

/**
 * Of tokenizer_config.json the library is given the one key it needs and tokenizer.json states. The others make it trim and
 * lowercase on its own account, which the reference implementation leaves to tokenizer.json.
 */
function libraryConfig(json: TokenizerJson): object {
  const unknown = json.model["unk_token"];
  return typeof unknown === "string" ? { unk_token: unknown } : {};
}

/** What the model's files name, else the usual names; 0 where there is none, since padding is masked. */
function padIdOf(tokenizer: LibraryTokenizer, json: TokenizerJson, settings: TextSettings): number {
  const idOf = (token: string | undefined): number | undefined =>
    token === undefined ? undefined : tokenizer.token_to_id(token);
  const inFile = json.padding?.pad_id;
  return idOf(padTokenOf(settings)) ?? (typeof inFile === "number" ? inFile : undefined) ?? idOf("[PAD]") ?? idOf("<pad>") ?? 0;
}
