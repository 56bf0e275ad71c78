/** What reads long texts off the calling thread. In Node.js: src/tasks/text-threads/. A browser has none. */
import { InferyardError } from "../errors.ts";
import type { TextSettings } from "../models/manifest.ts";
import type { DecodeOptions } from "./tokenizer.ts";
import { TokenColumns } from "./token-columns.ts";

export interface TokenizerThreads {
  /** Longest text in UTF-16 units, and longest list of token ids. Longer ones are LIMIT_EXCEEDED. */
  readonly maxCharacters: number;
  /** Tokens of a text. LIMIT_EXCEEDED where they take too long or too much memory. */
  tokenize(settings: TextSettings, text: string): Promise<TransferableTokens>;
  /** Text of tokens. Throws the same. */
  decode(settings: TextSettings, ids: readonly number[], options: DecodeOptions): Promise<string>;
}

/** Throws LIMIT_EXCEEDED for a text, or a list of token ids, that is longer than threads may read. */
export function requireMaxLength(
  length: number,
  what: "characters" | "tokens",
  { maxCharacters }: Pick<TokenizerThreads, "maxCharacters">,
): void {
  if (length <= maxCharacters) return;
  throw new InferyardError("LIMIT_EXCEEDED", `a text of ${length} ${what} is longer than the limit of ${maxCharacters}`, {
    remedy: "send it in parts, or raise `maxTextCharacters`",
    data: { length, limit: maxCharacters },
  });
}

/** Texts up to this length, in UTF-16 units, are read by the calling thread: to hand one over takes 0.1 ms, to read this many some 5. */
export const maxInlineUnits = 8192;

/** The columns of a `TokenRow`, as they travel between threads. */
export interface TransferableTokens {
  readonly ids: Int32Array<ArrayBuffer>;
  readonly offsets: Int32Array<ArrayBuffer>;
  readonly words: Int32Array<ArrayBuffer>;
  readonly shown: ReadonlyMap<number, string>;
}

export function toTransferable({ ids, offsets, words, shown }: TokenColumns): TransferableTokens {
  return { ids: Int32Array.from(ids), offsets: Int32Array.from(offsets), words: Int32Array.from(words), shown };
}

export function fromTransferable({ ids, offsets, words, shown }: TransferableTokens): TokenColumns {
  const row = new TokenColumns();
  for (let index = 0; index < ids.length; index++)
    row.push(ids[index] ?? 0, offsets[2 * index] ?? 0, offsets[2 * index + 1] ?? 0, words[index] ?? 0);
  for (const [index, text] of shown) row.shown.set(index, text);
  return row;
}
