/** Decoders that separate words by spaces: WordPiece and CTC. */
import { booleanSetting, stringSetting } from "../config/component-config.ts";
import type { ComponentConfig } from "../config/component-config.ts";
import type { TokenDecoder } from "./decoder.ts";

/** Replacements of `cleanup` in the Rust library, in its order. ("do not" to "don't" is among them.) */
const cleanups: readonly (readonly [found: string, written: string])[] = [
  [" .", "."],
  [" ?", "?"],
  [" !", "!"],
  [" ,", ","],
  [" ' ", "'"],
  [" n't", "n't"],
  [" 'm", "'m"],
  [" do not", " don't"],
  [" 's", "'s"],
  [" 've", "'ve"],
  [" 're", "'re"],
];

function cleanUp(text: string): string {
  return cleanups.reduce((cleaned, [found, written]) => cleaned.replaceAll(found, written), text);
}

/** Decoder `WordPiece`: joins continuation tokens ("##ing") to the word before, and separates words by spaces. */
export function wordPieceDecoder(step: ComponentConfig): TokenDecoder {
  const prefix = stringSetting(step, "prefix", "##");
  const cleans = booleanSetting(step, "cleanup", true);
  return (tokens) =>
    tokens.map((token, index) => {
      const text = index === 0 ? token : token.startsWith(prefix) ? token.slice(prefix.length) : ` ${token}`;
      return cleans ? cleanUp(text) : text;
    });
}

/** Decoder `CTC` (connectionist temporal classification, Graves et al. 2006; speech): collapses repeated tokens and removes the blank token. */
export function ctcDecoder(step: ComponentConfig): TokenDecoder {
  const silence = stringSetting(step, "pad_token", "<pad>");
  const space = stringSetting(step, "word_delimiter_token", "|");
  const cleans = booleanSetting(step, "cleanup", true);
  return (tokens) =>
    tokens.flatMap((token, index) => {
      if (index > 0 && token === tokens[index - 1]) return [];
      const said = token.replaceAll(silence, "");
      const text = cleans ? cleanUp(said).replaceAll(space, " ") : said;
      return text === "" ? [] : [text];
    });
}
