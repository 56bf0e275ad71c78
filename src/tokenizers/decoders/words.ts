/** Decoders that put spaces between words, and take some of them out again where English has none. */
import { booleanSetting, stringSetting } from "../config/component-config.ts";
import type { ComponentConfig } from "../config/component-config.ts";
import type { Decoder } from "./decoder.ts";

/** The Rust library's list, in its order; "do not" is its own too. */
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

export function wordPieceDecoder(step: ComponentConfig): Decoder {
  const prefix = stringSetting(step, "prefix", "##");
  const cleans = booleanSetting(step, "cleanup", true);
  return (tokens) =>
    tokens.map((token, index) => {
      const text = index === 0 ? token : token.startsWith(prefix) ? token.slice(prefix.length) : ` ${token}`;
      return cleans ? cleanUp(text) : text;
    });
}

/** Connectionist temporal classification (speech): a token repeated is said once, and padding is silence. */
export function ctcDecoder(step: ComponentConfig): Decoder {
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
