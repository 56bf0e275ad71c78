/** The tokenizer in the metadata of a GGUF file: `tokenizer.ggml.*` (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md). */
import { ggufBoolean, ggufNumber, ggufNumbers, ggufText, ggufTexts, type GgufValue } from "../../formats/gguf/gguf-metadata.ts";
import { isControlText } from "../../models/gguf/end-tokens.ts";

/** Roles of special tokens, by the key that states their id. */
const roleKeys = {
  bos: "bos_token_id",
  eos: "eos_token_id",
  unknown: "unknown_token_id",
  padding: "padding_token_id",
  // The specification has this misspelling.
  separator: "seperator_token_id",
  classification: "cls_token_id",
  mask: "mask_token_id",
} as const;

/** A role of a special token. */
export type TokenRole = keyof typeof roleKeys;

/** Kinds of tokens: `llama_token_type` of llama.h, in its order, which begins at 1. */
const tokenKinds = ["normal", "unknown", "control", "user-defined", "unused", "byte"] as const;

/** A kind of token. */
export type GgufTokenKind = (typeof tokenKinds)[number];

/** Description of a tokenizer in the metadata. Members throw Error for invalid values. */
export class GgufTokenizer {
  /** "llama" (SentencePiece BPE), "gpt2" (byte-level BPE), "bert" (WordPiece) or "t5" (SentencePiece unigram), among others. */
  readonly model: string;
  /** Name of the rule that splits text before byte-level BPE: "llama-bpe", "qwen2", ... */
  readonly preTokenizer: string;
  readonly tokens: readonly string[];
  readonly #metadata: ReadonlyMap<string, GgufValue>;
  readonly #kinds: readonly number[];

  constructor(metadata: ReadonlyMap<string, GgufValue>) {
    this.#metadata = metadata;
    this.model = ggufText(metadata, "tokenizer.ggml.model") ?? "";
    this.preTokenizer = ggufText(metadata, "tokenizer.ggml.pre") ?? "default";
    const tokens = ggufTexts(metadata, "tokenizer.ggml.tokens");
    if (tokens === undefined || tokens.length === 0) throw new Error('its metadata has no list "tokenizer.ggml.tokens"');
    this.tokens = tokens;
    this.#kinds = this.numbers("token_type") ?? [];
  }

  /** The kind of a token; "normal" if the file states none. Tokens that end a turn are control tokens in any case. */
  getKind(id: number): GgufTokenKind {
    if (isControlText(this.tokens[id] ?? "")) return "control";
    return tokenKinds[(this.#kinds[id] ?? 1) - 1] ?? "normal";
  }

  /** Id of the token with a role, or undefined if the file states none or one that is not in the vocabulary. */
  getId(role: TokenRole): number | undefined {
    const id = ggufNumber(this.#metadata, `tokenizer.ggml.${roleKeys[role]}`);
    return id !== undefined && Number.isInteger(id) && id >= 0 && id < this.tokens.length ? id : undefined;
  }

  /** Text of the token with a role. */
  getToken(role: TokenRole): string | undefined {
    const id = this.getId(role);
    return id === undefined ? undefined : this.tokens[id];
  }

  /** A truth value: "add_bos_token", "add_eos_token", "add_space_prefix", "remove_extra_whitespaces". */
  flag(key: string, otherwise: boolean): boolean {
    return ggufBoolean(this.#metadata, `tokenizer.ggml.${key}`) ?? otherwise;
  }

  /** A list of numbers with one for each token; undefined if the file has none. */
  numbers(key: "token_type" | "scores"): readonly number[] | undefined {
    const all = ggufNumbers(this.#metadata, `tokenizer.ggml.${key}`);
    if (all === undefined || all.length === this.tokens.length) return all;
    throw new Error(`its list "tokenizer.ggml.${key}" has ${all.length} numbers for ${this.tokens.length} tokens`);
  }

  /** Number of token types (segments) that the model knows. Undefined if the file states none. */
  get tokenTypes(): number | undefined {
    return ggufNumber(this.#metadata, "tokenizer.ggml.token_type_count");
  }

  /** The merges of byte-level BPE, "left right". */
  get merges(): readonly string[] {
    const merges = ggufTexts(this.#metadata, "tokenizer.ggml.merges");
    if (merges === undefined) throw new Error('its metadata has no list "tokenizer.ggml.merges"');
    return merges;
  }

  /** The character map of SentencePiece, or undefined if there is none. */
  get characterMap(): Uint8Array | undefined {
    const bytes = ggufNumbers(this.#metadata, "tokenizer.ggml.precompiled_charsmap");
    return bytes === undefined || bytes.length === 0 ? undefined : Uint8Array.from(bytes);
  }
}
