/** Converts tokens to text as they arrive. */
import type { Tokenizer } from "../../../tokenizers/index.ts";

/** A token for one byte, as SentencePiece vocabularies have them ("<0xE2>"). */
const byteToken = /^<0x[0-9A-F]{2}>$/;

/**
 * The text of a growing list of tokens. The parts together are equal to the tokenizer's decoding of the whole list: a part is returned when later tokens cannot
 * change it, so never an incomplete character, and nothing of a run of byte tokens before its end.
 */
export class TokenText {
  readonly #tokenizer: Pick<Tokenizer, "decode" | "idToToken">;
  readonly #skipSpecialTokens: boolean;
  readonly #kept: ReadonlySet<string> | undefined;
  /** Tokens since a point where the text was complete; decoders treat the first token of a text in their own way, so one such part precedes the new ones. */
  #tokens: number[] = [];
  /** Index of the first token whose text was passed on. */
  #shown = 0;
  /** Their text. */
  #shownText = "";
  #endsInByte = false;

  /**
   * `kept`: special tokens that stay in the text where others are left out. `before`: the token of the text that this one continues, whose own text is not repeated; see
   * `continuedToken`. Default: the tokens begin a text.
   */
  constructor(
    tokenizer: Pick<Tokenizer, "decode" | "idToToken">,
    skipSpecialTokens: boolean,
    { kept, before }: { readonly kept?: ReadonlySet<string> | undefined; readonly before?: number | undefined } = {},
  ) {
    this.#tokenizer = tokenizer;
    this.#skipSpecialTokens = skipSpecialTokens && kept === undefined;
    this.#kept = skipSpecialTokens ? kept : undefined;
    if (before === undefined) return;
    this.#tokens = [before];
    this.#shown = 1;
    this.#shownText = this.#decode(this.#tokens);
  }

  /** Adds a token, and returns the text that is complete with it. */
  push(token: number): string {
    if (this.#kept !== undefined && this.#isLeftOut(token, this.#kept)) return "";
    // A special token that is left out does not end a run of byte tokens.
    if (this.#endsInByte && this.#skipSpecialTokens && this.#isSpecial(token)) return "";
    this.#tokens.push(token);
    this.#endsInByte = this.#isByte(token);
    if (this.#endsInByte) return "";
    const text = this.#decode(this.#tokens);
    return text.endsWith("\uFFFD") ? "" : this.#show(text);
  }

  /** The rest of the text, once no token follows. */
  end(): string {
    return this.#show(this.#decode(this.#tokens));
  }

  #isLeftOut(token: number, kept: ReadonlySet<string>): boolean {
    return this.#isSpecial(token) && !kept.has(this.#tokenizer.idToToken(token) ?? "");
  }

  /** A lone space may decode to nothing too, where decoders leave out the first space of a text. */
  #isSpecial(token: number): boolean {
    return this.#tokenizer.decode([token]) === "" && this.#tokenizer.decode([token], { skipSpecialTokens: false }) !== "";
  }

  #isByte(token: number): boolean {
    return byteToken.test(this.#tokenizer.idToToken(token) ?? "");
  }

  #show(text: string): string {
    const part = text.slice(this.#shownText.length);
    const fresh = this.#tokens.slice(this.#shown);
    if (fresh.length === 0 || part === "") return part;
    this.#tokens = fresh;
    this.#shown = fresh.length;
    this.#shownText = this.#decode(fresh);
    return part;
  }

  #decode(tokens: readonly number[]): string {
    return this.#tokenizer.decode(tokens, { skipSpecialTokens: this.#skipSpecialTokens });
  }
}
