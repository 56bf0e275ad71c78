/** Log probabilities of completions, in the lists of OpenAI's older API: tokens as texts, with where each begins in the text. */
import type { PromptLogprob } from "../../../tasks/generation/generated-text.ts";
import type { TokenTexts } from "../generation/token-texts.ts";

/** Lists with one entry per token. */
export interface LogprobLists {
  /** The text of each token, its leading space included; a token that is a part of a character by its bytes, such as "bytes:\xf0\x9f". */
  readonly tokens: readonly string[];
  /** Null for the first token of a prompt, which nothing precedes. */
  readonly token_logprobs: readonly (number | null)[];
  /** The log probabilities of the most probable tokens and of the token itself, by their texts. */
  readonly top_logprobs: readonly (Readonly<Record<string, number>> | null)[];
  /** Offset of each token in the text of the choice, in code points; for one that continues a character, where that character begins. */
  readonly text_offset: readonly number[];
}

/** Position of tokens in a text. */
export interface CompletionPlace {
  /** Whether the first token begins the text: the text has its prompt, or there is none. SentencePiece then leaves out its leading space. */
  readonly startsText: boolean;
  /** Whether special tokens are left out of the text. */
  readonly skipsSpecial: boolean;
}

/** The log probabilities of one text, shown a few tokens at a time. */
export class CompletionLogprobs {
  readonly #texts: TokenTexts;
  readonly #skipsSpecial: boolean;
  #isFirst: boolean;
  /** Code points before the next token. */
  #offset = 0;

  constructor(texts: TokenTexts, { startsText, skipsSpecial }: CompletionPlace) {
    this.#texts = texts;
    this.#skipsSpecial = skipsSpecial;
    this.#isFirst = startsText;
  }

  /** The next tokens of the text. */
  next(logprobs: readonly PromptLogprob[]): LogprobLists {
    const rows = logprobs.map((entry) => {
      const isFirst = this.#isFirst;
      const shown = (id: number): string => notation(this.#texts.shown(id, isFirst));
      return { token: shown(entry.token), top: topByText(entry, shown), offset: this.#place(entry.token) };
    });
    return {
      tokens: rows.map(({ token }) => token),
      token_logprobs: logprobs.map(({ logprob }) => logprob),
      top_logprobs: rows.map(({ top }) => top),
      text_offset: rows.map(({ offset }) => offset),
    };
  }

  /** Where a token begins. */
  #place(token: number): number {
    const { bytes, isSpecial } = this.#texts.shown(token, this.#isFirst);
    if (isSpecial && this.#skipsSpecial) return this.#offset;
    this.#isFirst = false;
    const isContinuation = bytes.length > 0 && isContinuationByte(bytes[0] ?? 0);
    const offset = isContinuation ? Math.max(0, this.#offset - 1) : this.#offset;
    for (const byte of bytes) if (!isContinuationByte(byte)) this.#offset += 1;
    return offset;
  }
}

/** The log probabilities by text. Several tokens may have one text: the most probable stays. The token itself is among them, as in OpenAI's API. */
function topByText(
  { token: own, logprob, top }: PromptLogprob,
  shown: (id: number) => string,
): Readonly<Record<string, number>> | null {
  if (logprob === null) return null;
  const pairs = [...top, { token: own, logprob }].toSorted((left, right) => left.logprob - right.logprob);
  const last = new Map(pairs.map((each) => [shown(each.token), each.logprob]));
  return Object.fromEntries([...last].toSorted(([, left], [, right]) => right - left));
}

/** A token that is a part of a character is shown by its bytes, as OpenAI does, since two of them would look the same. */
function notation({ text, bytes }: { readonly text: string; readonly bytes: Uint8Array }): string {
  if (!text.includes("\uFFFD")) return text;
  return `bytes:${Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}`;
}

/** Whether a byte of UTF-8 is not the first one of its character. */
function isContinuationByte(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
