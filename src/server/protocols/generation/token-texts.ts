/** How protocols show single tokens: each with its own bytes and its space. */
import { TokenBytes } from "../../../tokenizers/token-bytes.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";

/** A token as text, and its bytes, which may be a part of a character. */
export interface ShownToken {
  /** The bytes as UTF-8, with U+FFFD for incomplete characters. */
  readonly text: string;
  readonly bytes: Uint8Array;
  /** Whether it is a special token, which is shown as the vocabulary has it. */
  readonly isSpecial: boolean;
}

/** Shows the tokens of one model. */
export class TokenTexts {
  readonly #bytes: TokenBytes | undefined;

  /** `tokenizer`: undefined if the model has none; its tokens are then empty. */
  constructor(tokenizer: Tokenizer | undefined) {
    this.#bytes = tokenizer === undefined ? undefined : new TokenBytes(tokenizer);
  }

  /** A token by itself. `isFirst`: it is the first of a text, where SentencePiece has no leading space. Default: it follows other tokens. */
  shown(token: number, isFirst = false): ShownToken {
    const added = isFirst ? this.#bytes?.addedFirst(token) : this.#bytes?.added(token);
    const bytes = added ?? this.#bytes?.of(token) ?? new Uint8Array();
    const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
    return { text, bytes, isSpecial: added === undefined };
  }
}
