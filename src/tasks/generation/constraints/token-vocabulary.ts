/** The tokens of a vocabulary as bytes, in a form in which a constraint finds those that fit. */
import type { Tokenizer } from "../../../tokenizers/index.ts";
import { byteOfCharacter } from "../../../tokenizers/unicode/byte-level-alphabet.ts";

/** What is needed of a tokenizer. */
export type TokenSource = Pick<Tokenizer, "decode" | "idOf" | "tokenOf" | "vocabularySize">;

/** The tokens in the order of their bytes, as a tree: tokens that begin alike share a node. */
export interface TokenTree {
  /** The byte of each node, its depth from 1, and the number of the node behind all below it. Nodes are in the order of a walk. */
  readonly bytes: Uint8Array;
  readonly depths: Uint16Array;
  readonly ends: Int32Array;
  /** The tokens that end at each node. */
  readonly tokens: readonly (readonly number[] | undefined)[];
  readonly maxDepth: number;
}

/** The tokens of one tokenizer. */
export class TokenVocabulary {
  /** By token id: its bytes; undefined for special tokens and ids without a token. */
  readonly bytes: readonly (Uint8Array | undefined)[];
  /** Number of words of a mask. */
  readonly words: number;
  readonly #all: TokenTree;
  /** Without plain tokens. */
  readonly #others: TokenTree;
  /** By number of code points: the plain tokens of at most that many. A plain token is what may stand in a string of JSON as it is. */
  readonly #plain: readonly Uint32Array[];

  /** `size`: number of logits of the model, which may be more than tokens. */
  constructor(tokenizer: TokenSource, size: number = tokenizer.vocabularySize) {
    this.bytes = tokenBytes(tokenizer).slice(0, size);
    this.words = Math.ceil(size / 32);
    const entries = [...this.bytes.entries()].flatMap(([token, bytes]) =>
      bytes === undefined || bytes.length === 0 ? [] : [{ token, bytes }],
    );
    entries.sort((left, right) => compareBytes(left.bytes, right.bytes));
    const lengths = entries.map(({ bytes }) => plainLength(bytes));
    this.#all = treeOf(entries);
    this.#others = treeOf(entries.filter((_, index) => lengths[index] === 0));
    const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
    const byLength = Array.from({ length: longest + 1 }, () => new Uint32Array(this.words));
    for (const [index, { token }] of entries.entries()) {
      const length = lengths[index] ?? 0;
      if (length > 0) for (const mask of byLength.slice(length)) setBit(mask, token);
    }
    this.#plain = byLength;
  }

  /** The plain tokens of at most `length` code points, and the tree of tokens that remain to be looked at; all where some plain ones are too long. */
  plainTokens(length: number): { readonly mask: Uint32Array; readonly isComplete: boolean } {
    const last = this.#plain.length - 1;
    return { mask: this.#plain[Math.min(length, last)] as Uint32Array, isComplete: length >= last };
  }

  /** All tokens, or those that are not plain. */
  tree(withPlain: boolean): TokenTree {
    return withPlain ? this.#all : this.#others;
  }
}

/** Sets the bit of a token. */
export function setBit(mask: Uint32Array, token: number): void {
  const word = token >>> 5;
  mask[word] = (mask[word] ?? 0) | (1 << (token & 31));
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const length = Math.min(left.length, right.length);
  for (let index = 0; index < length; index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

/** Number of code points of a token that may stand in a string of JSON as it is; 0 for others. */
function plainLength(bytes: Uint8Array): number {
  if (bytes.some((byte) => byte < 0x20 || byte === 0x22 || byte === 0x5c)) return 0;
  try {
    return Array.from(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)).length;
  } catch {
    return 0; // a part of a character
  }
}

function treeOf(entries: readonly { readonly token: number; readonly bytes: Uint8Array }[]): TokenTree {
  const bytes: number[] = [];
  const depths: number[] = [];
  const ends: number[] = [];
  const tokens: (number[] | undefined)[] = [];
  /** Nodes from the root to the last one. */
  const path: number[] = [];
  let previous = new Uint8Array();
  const leave = (depth: number): void => {
    while (path.length > depth) ends[path.pop() ?? 0] = bytes.length;
  };
  for (const { token, bytes: own } of entries) {
    let common = 0;
    while (common < previous.length && common < own.length && previous[common] === own[common]) common += 1;
    leave(common);
    for (let depth = common; depth < own.length; depth += 1) {
      path.push(bytes.length);
      bytes.push(own[depth] ?? 0);
      depths.push(depth + 1);
      ends.push(0);
      tokens.push(undefined);
    }
    (tokens[path.at(-1) ?? 0] ??= []).push(token);
    previous = Uint8Array.from(own);
  }
  leave(0);
  return {
    bytes: Uint8Array.from(bytes),
    depths: Uint16Array.from(depths),
    ends: Int32Array.from(ends),
    tokens,
    maxDepth: depths.reduce((most, depth) => Math.max(most, depth), 0),
  };
}

/** The bytes that each token adds to a text. */
function tokenBytes(tokenizer: TokenSource): readonly (Uint8Array | undefined)[] {
  const encoder = new TextEncoder();
  const anchor = ["a", "▁a", "Ġa", "0"].map((token) => tokenizer.idOf(token)).find((id) => id !== undefined);
  const before = anchor === undefined ? "" : tokenizer.decode([anchor]);
  return Array.from({ length: tokenizer.vocabularySize }, (_, id) => {
    const token = tokenizer.tokenOf(id);
    if (token === undefined) return undefined;
    const byte = /^<0x([\dA-Fa-f]{2})>$/.exec(token)?.[1];
    // Decoders treat the first token in their own way, so that one precedes it.
    const text = tokenizer.decode(anchor === undefined ? [id] : [anchor, id], { skipSpecialTokens: true }).slice(before.length);
    if (text === "") return byte === undefined ? undefined : Uint8Array.of(Number.parseInt(byte, 16));
    if (!text.includes("\uFFFD")) return encoder.encode(text);
    if (byte !== undefined) return Uint8Array.of(Number.parseInt(byte, 16));
    const bytes = Array.from(token, (character) => byteOfCharacter.get(character) ?? -1);
    return bytes.includes(-1) ? encoder.encode(text) : Uint8Array.from(bytes);
  });
}
