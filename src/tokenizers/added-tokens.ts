/** Matching of added tokens ([CLS], <|endoftext|>, ...), as `AddedVocabulary::extract_and_normalize` of the Rust library does it. */
import { characterLength } from "./alignment/aligned-text.ts";
import { isWhitespace } from "./unicode/character-properties.ts";
import { Trie } from "./models/trie.ts";
import { characterStart } from "./alignment/rewriter.ts";
import type { AddedToken } from "./config/tokenizer-json.ts";

/** A range [start, end) of a text in UTF-16 code units: a match of an added token, or the text between matches. */
export interface TextSection {
  readonly start: number;
  readonly end: number;
  readonly token?: AddedToken;
}

const word = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200c\u200d]/u;

/** Finds added tokens in a text by leftmost-longest matching. */
export class AddedTokenFinder {
  readonly #trie: Trie;
  readonly #tokens: readonly AddedToken[];
  /** By UTF-16 code unit: 1 if a token starts with it. */
  readonly #opens = new Uint8Array(0x10000);

  /** `getText`: the text to match for a token, its content or its normalized content. */
  constructor(tokens: readonly AddedToken[], textOf: (token: AddedToken) => string) {
    this.#tokens = tokens;
    const texts = tokens.map((token, index): [string, number] => [textOf(token), index]).filter(([text]) => text !== "");
    this.#trie = new Trie(texts);
    for (const [text] of texts) this.#opens[text.charCodeAt(0)] = 1;
  }

  /** Splits a text into sections that cover it, in order. An empty text has none. */
  sections(text: string): TextSection[] {
    const sections: TextSection[] = [];
    let done = 0;
    /** End of the white space that was scanned last, so that it is scanned once. */
    let spaceEnd = 0;
    if (this.#tokens.length > 0) {
      for (let unit = 0; unit < text.length;) {
        const found = this.#opens[text.charCodeAt(unit)] === 1 ? this.#longestAt(text, unit) : undefined;
        if (found === undefined) {
          unit++;
          continue;
        }
        const { token, end: tokenEnd } = found;
        const from = unit;
        // The search continues after a match even if it is rejected, as in the Rust library.
        unit = tokenEnd;
        if (token.singleWord && (endsInWord(text, from) || word.test(text.slice(tokenEnd, tokenEnd + 2)))) continue;
        let [start, end] = [from, tokenEnd];
        if (token.lstrip) while (start > done && isWhitespace(text.charCodeAt(start - 1))) start--;
        if (token.rstrip) {
          end = Math.max(end, spaceEnd);
          while (end < text.length && isWhitespace(text.charCodeAt(end))) end++;
          spaceEnd = end;
        }
        if (done < start) sections.push({ start: done, end: start });
        sections.push({ start, end, token });
        done = end;
      }
    }
    if (done < text.length) sections.push({ start: done, end: text.length });
    return sections;
  }

  #longestAt(text: string, start: number): { readonly token: AddedToken; readonly end: number } | undefined {
    let node = 0;
    let longest: { readonly token: AddedToken; readonly end: number } | undefined;
    for (let unit = start; unit < text.length; unit++) {
      node = this.#trie.step(node, text.charCodeAt(unit));
      if (node === -1) break;
      const token = this.#tokens[this.#trie.idAt(node)];
      if (token !== undefined) longest = { token, end: unit + 1 };
    }
    return longest;
  }
}

function endsInWord(text: string, end: number): boolean {
  if (end === 0) return false;
  const start = characterStart(text, end);
  return word.test(text.slice(start, start + characterLength(text, start)));
}
