/** The bytes that single tokens add to a text. */
import type { Tokenizer } from "./tokenizer.ts";
import { byteOfCharacter } from "./unicode/byte-level-alphabet.ts";

/** Members of a tokenizer that this module uses. */
export type TokenSource = Pick<Tokenizer, "decode" | "tokenToId" | "idToToken">;

/** Tokens that occur in nearly every vocabulary. */
export const commonTokens: readonly string[] = ["a", "▁a", "Ġa", "0"];

/** A token for one byte, as SentencePiece vocabularies have them ("<0xE2>"). */
const byteToken = /^<0x([\dA-Fa-f]{2})>$/;

const encoder = new TextEncoder();

/**
 * The bytes of single tokens. Decoders treat the first token of a text specially (SentencePiece leaves out its space, WordPiece adds none), so each token is
 * decoded after another one.
 */
export class TokenBytes {
  readonly #tokenizer: TokenSource;
  /** A token to decode others after. Undefined: the vocabulary has no usual one. */
  readonly #anchor: number | undefined;
  readonly #before: string;

  constructor(tokenizer: TokenSource) {
    this.#tokenizer = tokenizer;
    this.#anchor = commonTokens.map((token) => tokenizer.tokenToId(token)).find((id) => id !== undefined);
    this.#before = this.#anchor === undefined ? "" : tokenizer.decode([this.#anchor]);
  }

  /** The bytes that a token adds to a text where it is not the first one. Undefined for a special token and an id without a token. */
  added(id: number): Uint8Array | undefined {
    const token = this.#tokenizer.idToToken(id);
    if (token === undefined) return undefined;
    const text = this.#tokenizer.decode(this.#anchor === undefined ? [id] : [this.#anchor, id]).slice(this.#before.length);
    if (text !== "" && !text.includes("\uFFFD")) return encoder.encode(text);
    const byte = byteToken.exec(token)?.[1];
    if (byte !== undefined) return Uint8Array.of(Number.parseInt(byte, 16));
    if (text === "") return undefined;
    const bytes = Array.from(token, (character) => byteOfCharacter.get(character) ?? -1);
    return bytes.includes(-1) ? encoder.encode(text) : Uint8Array.from(bytes);
  }

  /** The bytes that a token adds where it is the first of a text. Undefined as for `added`. */
  addedFirst(id: number): Uint8Array | undefined {
    const behind = this.added(id);
    if (behind === undefined || this.isSameFirst(id)) return behind;
    const text = this.#tokenizer.decode([id]);
    return text.includes("\uFFFD") ? behind : encoder.encode(text);
  }

  /** The bytes of a token: the bytes that it adds to a text, or the text of a special token. */
  of(id: number): Uint8Array {
    return this.added(id) ?? encoder.encode(this.#tokenizer.idToToken(id) ?? "");
  }

  /** Whether a token adds the same text as the first one of a text as it does after another one. */
  isSameFirst(id: number): boolean {
    if (this.#anchor === undefined) return true;
    const tokenizer = this.#tokenizer;
    return tokenizer.decode([this.#anchor, id]).slice(this.#before.length) === tokenizer.decode([id]);
  }
}
