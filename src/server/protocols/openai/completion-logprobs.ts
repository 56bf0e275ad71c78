/** Log probabilities as OpenAI's completions show them: tokens as texts, with where each begins in the text. */
import type { GeneratedLogprob } from "../../../tasks/generation/generated-text.ts";
import type { TokenTexts } from "../generation/token-texts.ts";

/** What the tokens of a text follow, and what the text has of them. */
export interface CompletionPlace {
  readonly prompt: string;
  /** Whether the text begins with the prompt. */
  readonly echo: boolean;
  /** Whether special tokens are left out of the text. */
  readonly skipsSpecial: boolean;
}

/** The log probabilities of one text, shown a few tokens at a time. */
export class CompletionLogprobs {
  readonly #texts: TokenTexts;
  readonly #skipsSpecial: boolean;
  /** Whether the next token is the first of a text, whose leading space SentencePiece leaves out. */
  #isFirst: boolean;
  /** Code points before the next token. */
  #offset: number;

  constructor(texts: TokenTexts, { prompt, echo, skipsSpecial }: CompletionPlace) {
    this.#texts = texts;
    this.#skipsSpecial = skipsSpecial;
    this.#isFirst = prompt === "";
    this.#offset = echo ? Array.from(prompt).length : 0;
  }

  /** The next tokens of the text. */
  next(logprobs: readonly GeneratedLogprob[]): object {
    const rows = logprobs.map(({ token, logprob, top }) => {
      const isFirst = this.#isFirst;
      const shown = (id: number): string => notation(this.#texts.shown(id, isFirst));
      const text_offset = this.#place(token);
      return {
        token: shown(token),
        logprob,
        top: Object.fromEntries(top.map((each) => [shown(each.token), each.logprob])),
        text_offset,
      };
    });
    return {
      tokens: rows.map(({ token }) => token),
      token_logprobs: rows.map(({ logprob }) => logprob),
      top_logprobs: rows.map(({ top }) => top),
      text_offset: rows.map(({ text_offset }) => text_offset),
    };
  }

  /** Where a token begins; for one that continues a character, where that character begins. */
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

/** A token that is a part of a character is shown by its bytes, such as "bytes:\\xf0\\x9f", as OpenAI does, since two of them would look the same. */
function notation({ text, bytes }: { readonly text: string; readonly bytes: Uint8Array }): string {
  if (!text.includes("\uFFFD")) return text;
  return `bytes:${Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("")}`;
}

/** Whether a byte of UTF-8 is not the first one of its character. */
function isContinuationByte(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}
