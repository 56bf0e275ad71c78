/** Interface of worker threads that tokenize long texts. Implemented for Node.js in src/tasks/text-threads/; browsers have none. */
import { at } from "../contract/checked.ts";
import { InferyardError } from "../contract/errors.ts";
import type { TextSettings } from "../models/manifest.ts";
import type { TokenDecodeOptions } from "./tokenizer.ts";
import { TokenColumns } from "./token-columns.ts";

/** Worker threads that tokenize and decode long texts, so that the event loop stays free. */
export interface TokenizerThreads {
  /** Maximum length of a text in UTF-16 code units, and of a list of token ids. */
  readonly maxCharacters: number;
  /** Tokenizes a text with the tokenizer of `settings`. Throws LIMIT_EXCEEDED if it takes too long or too much memory. */
  tokenize(settings: TextSettings, text: string): Promise<TransferableTokens>;
  /** Decodes token ids. Throws LIMIT_EXCEEDED if it takes too long or too much memory. */
  decode(settings: TextSettings, ids: readonly number[], options: TokenDecodeOptions): Promise<string>;
}

/** Throws LIMIT_EXCEEDED for a text, or a list of token ids, longer than `maxCharacters`. */
export function requireMaxLength(
  length: number,
  what: "characters" | "tokens",
  { maxCharacters }: Pick<TokenizerThreads, "maxCharacters">,
): void {
  if (length <= maxCharacters) return;
  throw new InferyardError("LIMIT_EXCEEDED", `a text of ${length} ${what} is longer than the limit of ${maxCharacters}`, {
    remedy: "split it, or raise `maxTextCharacters`",
    data: { length, limit: maxCharacters },
  });
}

/**
 * Maximum length in UTF-16 code units of a text that the calling thread tokenizes. Measured: a text of this length takes about 5 ms; sending one to
 * a thread costs 0.1 ms.
 */
export const maxInlineUnits = 8192;

/** TokenColumns in a form whose buffers can be transferred between threads without a copy. */
export interface TransferableTokens {
  readonly ids: Int32Array<ArrayBuffer>;
  readonly offsets: Int32Array<ArrayBuffer>;
  readonly words: Int32Array<ArrayBuffer>;
  readonly textOverrides: ReadonlyMap<number, string>;
}

/** Copies the columns of tokens into buffers that can be transferred to another thread. */
export function toTransferable({ ids, offsets, words, textOverrides }: TokenColumns): TransferableTokens {
  return { ids: Int32Array.from(ids), offsets: Int32Array.from(offsets), words: Int32Array.from(words), textOverrides };
}

/** Converts tokens that another thread transferred back to columns. */
export function fromTransferable({ ids, offsets, words, textOverrides }: TransferableTokens): TokenColumns {
  const row = new TokenColumns();
  for (let index = 0; index < ids.length; index++)
    row.push(at(ids, index), at(offsets, 2 * index), at(offsets, 2 * index + 1), at(words, index));
  for (const [index, text] of textOverrides) row.textOverrides.set(index, text);
  return row;
}
