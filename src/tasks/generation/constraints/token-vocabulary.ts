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
  /** Bytes of tokens that add something else where they are the first of a text, as SentencePiece leaves out a leading space; by token id. */
  readonly firstBytes: ReadonlyMap<number, Uint8Array>;
  /** Number of words of a mask. */
  readonly words: number;
  readonly #all: TokenTree;
  /** Without plain tokens. */
  readonly #others: TokenTree;
  /** By number of code points: the plain tokens of at most that many. A plain token is what may stand in a string of JSON as it is. */
  readonly #plain: readonly Uint32Array[];

  /** `size`: number of logits of the model, which may be more than tokens. `kept`: special tokens that stay in the text. */
  constructor(tokenizer: TokenSource, size: number = tokenizer.vocabularySize, kept: ReadonlySet<string> = new Set()) {
    const anchor = anchorOf(tokenizer);
    this.bytes = tokenBytes(tokenizer, anchor, kept).slice(0, size);
    this.firstBytes = firstBytesOf(tokenizer, anchor, this.bytes);
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

/** Clears the bit of a token. */
export function clearBit(mask: Uint32Array, token: number): void {
  const word = token >>> 5;
  mask[word] = (mask[word] ?? 0) & ~(1 << (token & 31));
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

const encoder = new TextEncoder();
/** Tokens that nearly every vocabulary has one of. */
const commonTokens = ["a", "▁a", "Ġa", "0"];

/** A token to decode others behind, since decoders treat the first one in their own way. */
function anchorOf(tokenizer: TokenSource): number | undefined {
  return commonTokens.map((token) => tokenizer.idOf(token)).find((id) => id !== undefined);
}

/** Only tokens that differ. */
function firstBytesOf(
  tokenizer: TokenSource,
  anchor: number | undefined,
  bytes: readonly (Uint8Array | undefined)[],
): ReadonlyMap<number, Uint8Array> {
  const differing = new Map<number, Uint8Array>();
  if (anchor === undefined) return differing;
  const before = tokenizer.decode([anchor]);
  const isSame = (id: number): boolean => tokenizer.decode([anchor, id]).slice(before.length) === tokenizer.decode([id]);
  if (commonTokens.every((token) => isSame(tokenizer.idOf(token) ?? anchor))) return differing;
  for (const [id, own] of bytes.entries()) {
    if (own === undefined || isSame(id)) continue;
    const text = tokenizer.decode([id]);
    if (!text.includes("\uFFFD")) differing.set(id, encoder.encode(text));
  }
  return differing;
}

/** The bytes that each token adds to a text. */
function tokenBytes(
  tokenizer: TokenSource,
  anchor: number | undefined,
  kept: ReadonlySet<string>,
): readonly (Uint8Array | undefined)[] {
  const before = anchor === undefined ? "" : tokenizer.decode([anchor]);
  return Array.from({ length: tokenizer.vocabularySize }, (_, id) => {
    const token = tokenizer.tokenOf(id);
    if (token === undefined) return undefined;
    const byte = /^<0x([\dA-Fa-f]{2})>$/.exec(token)?.[1];
    const text = tokenizer.decode(anchor === undefined ? [id] : [anchor, id], { skipSpecialTokens: true }).slice(before.length);
    if (text === "" && kept.has(token)) return encoder.encode(token);
    if (text === "") return byte === undefined ? undefined : Uint8Array.of(Number.parseInt(byte, 16));
    if (!text.includes("\uFFFD")) return encoder.encode(text);
    if (byte !== undefined) return Uint8Array.of(Number.parseInt(byte, 16));
    const bytes = Array.from(token, (character) => byteOfCharacter.get(character) ?? -1);
    return bytes.includes(-1) ? encoder.encode(text) : Uint8Array.from(bytes);
  });
}
