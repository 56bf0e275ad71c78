/** Splits tokens into words: at spaces, or for languages without spaces at every character. */
import type { Tokenizer } from "../../../tokenizers/index.ts";

/** A word, and the tokens that spell it. */
export interface WordTokens {
  readonly word: string;
  readonly tokens: readonly number[];
}

/** Languages whose words have no spaces between them. */
const unspaced: ReadonlySet<string> = new Set(["zh", "ja", "th", "lo", "my", "yue"]);
/** Every consecutive part of this text counts as punctuation, which is a word of its own. */
const punctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
/** What decoders write for bytes that are no character. */
const replacement = "\u{fffd}";

/** Splits tokens of a text, without timestamps. `endOfText`: this token and those above it are special, and words of their own. */
export function splitTokensAtWords(
  tokenizer: Tokenizer,
  tokens: readonly number[],
  language: string,
  endOfText: number,
): readonly WordTokens[] {
  const characters = splitCharacters(tokenizer, tokens);
  return unspaced.has(language) ? characters : joinAtSpaces(characters, endOfText);
}

/** Groups tokens so that each group is whole characters. */
function splitCharacters(tokenizer: Tokenizer, tokens: readonly number[]): readonly WordTokens[] {
  const decode = (ids: readonly number[]): string => tokenizer.decode(ids, { skipSpecialTokens: false });
  const whole = decode(tokens);
  const words: WordTokens[] = [];
  let current: number[] = [];
  let offset = 0;
  for (const token of tokens) {
    current.push(token);
    const word = decode(current);
    const broken = word.indexOf(replacement);
    // A replacement character that the whole text has as well is not half of a character.
    if (broken >= 0 && whole[offset + broken] !== replacement) continue;
    words.push({ word, tokens: current });
    current = [];
    offset += word.length;
  }
  return words;
}

/** Joins groups to the word before them, unless they begin with a space or are punctuation. */
function joinAtSpaces(parts: readonly WordTokens[], endOfText: number): readonly WordTokens[] {
  const words: { word: string; tokens: number[] }[] = [];
  for (const { word, tokens } of parts) {
    const last = words.at(-1);
    const isSpecial = (tokens[0] ?? 0) >= endOfText;
    if (last === undefined || isSpecial || word.startsWith(" ") || punctuation.includes(word.trim())) {
      words.push({ word, tokens: [...tokens] });
      continue;
    }
    last.word += word;
    last.tokens.push(...tokens);
  }
  return words;
}
