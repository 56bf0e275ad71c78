/** The tokens of a vocabulary as bytes, in tables that a constraint searches for permitted tokens. */
import type { Tokenizer } from "../../../tokenizers/index.ts";
import { TokenBytes, commonTokens } from "../../../tokenizers/token-bytes.ts";

/** Members of a tokenizer that this module uses. */
export type VocabularySource = Pick<Tokenizer, "decode" | "tokenToId" | "idToToken" | "vocabularySize">;

/** Typed arrays over memory that threads share, or over their own. */
type Bytes = Uint8Array;
type Integers = Int32Array;

/** A list of lists: list `index` has the items from `starts[index]` to `starts[index + 1]`. */
interface Lists<Items> {
  readonly items: Items;
  readonly starts: Integers;
}

/** The tokens in the order of their bytes, as a tree: tokens with the same first bytes share nodes. */
export interface TokenTree {
  /** The byte of each node, its depth from 1, and the number of the node after all below it. Nodes are in the order of a walk. */
  readonly bytes: Bytes;
  readonly depths: Uint16Array;
  readonly ends: Integers;
  /** The tokens that end at each node. */
  readonly tokens: Lists<Integers>;
  readonly maxDepth: number;
}

/** The tokens of one tokenizer as plain data, which threads can share. */
export interface VocabularyTables {
  /** Number of words of a mask. */
  readonly words: number;
  /** The bytes of each token; none for special tokens and ids without a token. */
  readonly bytes: Lists<Bytes>;
  /** Tokens that add something else where they are the first of a text, as SentencePiece leaves out a leading space, and their bytes there. */
  readonly firstTokens: Integers;
  readonly firstBytes: Lists<Bytes>;
  readonly all: TokenTree;
  /** Without plain tokens. */
  readonly others: TokenTree;
  /** By number of code points: a mask of the plain tokens of at most that many. A plain token may appear in a string of JSON without escapes. */
  readonly plain: Uint32Array;
}

/** Which tokens of a tokenizer are read, and how. */
export interface VocabularyOptions {
  /** Number of logits of the model, which may be more than tokens. Default: the number of tokens. */
  readonly size?: number;
  /** Special tokens that stay in the text. Default: none. */
  readonly kept?: ReadonlySet<string>;
  /** Whether the tables are in memory that threads share. Default: false. */
  readonly isShared?: boolean;
}

/** Longest token in bytes; a longer one is never allowed. */
const maxTokenBytes = 65_535;
/** Longest plain token in code points; a longer token is looked at byte by byte. There is a mask for each length. */
const maxPlainLength = 64;

/** Reads the tokens of a tokenizer. */
export function readTokenVocabulary(tokenizer: VocabularySource, options: VocabularyOptions = {}): VocabularyTables {
  const { size = tokenizer.vocabularySize, kept = new Set(), isShared = false } = options;
  const tokenBytes = new TokenBytes(tokenizer);
  const bytes = bytesOfTokens(tokenizer, tokenBytes, kept).slice(0, size);
  const first = getFirstBytes(tokenizer, tokenBytes, bytes);
  const words = Math.ceil(size / 32);
  const entries = [...bytes.entries()].flatMap(([token, own]) =>
    own === undefined || own.length === 0 || own.length > maxTokenBytes ? [] : [{ token, bytes: own }],
  );
  entries.sort((left, right) => compareBytes(left.bytes, right.bytes));
  const lengths = entries.map((entry) => plainLength(entry.bytes));
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  const plain = new Uint32Array((longest + 1) * words);
  for (const [index, { token }] of entries.entries()) {
    const length = lengths[index] ?? 0;
    if (length > 0) setBit(plain, 32 * length * words + token);
  }
  // A mask of at most some code points has all tokens of fewer.
  for (let word = words; word < plain.length; word += 1) plain[word] = (plain[word] ?? 0) | (plain[word - words] ?? 0);
  const tables: VocabularyTables = {
    words,
    bytes: byteLists(bytes),
    firstTokens: Int32Array.from(first.keys()),
    firstBytes: byteLists([...first.values()]),
    all: treeOf(entries),
    others: treeOf(entries.filter((_, index) => lengths[index] === 0)),
    plain,
  };
  return isShared ? inSharedMemory(tables) : tables;
}

/** The tokens of one tokenizer. */
export class TokenVocabulary {
  readonly #tables: VocabularyTables;
  /** By token: its place among the tokens that differ at the beginning of a text. */
  readonly #first: ReadonlyMap<number, number>;

  constructor(tables: VocabularyTables) {
    this.#tables = tables;
    this.#first = new Map(Array.from(tables.firstTokens, (token, index) => [token, index]));
  }

  /** Number of words of a mask. */
  get words(): number {
    return this.#tables.words;
  }

  /** Tokens that differ at the beginning of a text. */
  get firstTokens(): Iterable<number> {
    return this.#first.keys();
  }

  /** The bytes that a token adds to a text; none for special tokens and ids without a token. `isFirst`: the text is empty before it. */
  getBytes(token: number, isFirst: boolean): Bytes {
    const place = isFirst ? this.#first.get(token) : undefined;
    return place === undefined ? listAt(this.#tables.bytes, token) : listAt(this.#tables.firstBytes, place);
  }

  /** The plain tokens of at most `length` code points, and whether these are all plain ones. */
  plainTokens(length: number): { readonly mask: Uint32Array; readonly isComplete: boolean } {
    const { plain, words } = this.#tables;
    const last = plain.length / words - 1;
    const start = Math.min(length, last) * words;
    return { mask: plain.subarray(start, start + words), isComplete: length >= last };
  }

  /** All tokens, or the tokens that are not plain. */
  tree(withPlain: boolean): TokenTree {
    return withPlain ? this.#tables.all : this.#tables.others;
  }
}

function listAt({ items, starts }: Lists<Bytes>, index: number): Bytes {
  return items.subarray(starts[index] ?? 0, starts[index + 1] ?? 0);
}

function byteLists(lists: readonly (Uint8Array | undefined)[]): Lists<Bytes> {
  const starts = new Int32Array(lists.length + 1);
  for (const [index, list] of lists.entries()) starts[index + 1] = (starts[index] ?? 0) + (list?.length ?? 0);
  const items = new Uint8Array(starts[lists.length] ?? 0);
  for (const [index, list] of lists.entries()) if (list !== undefined) items.set(list, starts[index]);
  return { items, starts };
}

/** A copy whose typed arrays lie in memory that threads share. */
function inSharedMemory<Tables extends object>(tables: Tables): Tables {
  const copies = Object.entries(tables).map(([name, value]: [string, unknown]) => {
    if (ArrayBuffer.isView(value)) return [name, sharedCopy(value as Bytes | Integers)];
    return [name, typeof value === "object" && value !== null ? inSharedMemory(value) : value];
  });
  return Object.fromEntries(copies) as Tables;
}

type TypedArray = Uint8Array | Uint16Array | Int32Array | Uint32Array;

function sharedCopy(array: TypedArray): TypedArray {
  const Kind = array.constructor as new (buffer: SharedArrayBuffer) => TypedArray;
  const copy = new Kind(new SharedArrayBuffer(array.byteLength));
  copy.set(array);
  return copy;
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

/** Number of code points of a plain token; 0 for others. */
function plainLength(bytes: Uint8Array): number {
  if (bytes.length > 4 * maxPlainLength || bytes.some((byte) => byte < 0x20 || byte === 0x22 || byte === 0x5c)) return 0;
  try {
    const { length } = Array.from(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
    return length > maxPlainLength ? 0 : length;
  } catch {
    return 0; // a part of a character
  }
}

function treeOf(entries: readonly { readonly token: number; readonly bytes: Uint8Array }[]): TokenTree {
  const bytes: number[] = [];
  const depths: number[] = [];
  const ends: number[] = [];
  const tokens: number[] = [];
  /** Where the tokens of each node begin: a token ends at the last node that there is when it is added. */
  const starts: number[] = [];
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
      starts.push(tokens.length);
    }
    tokens.push(token);
    previous = Uint8Array.from(own);
  }
  leave(0);
  return {
    bytes: Uint8Array.from(bytes),
    depths: Uint16Array.from(depths),
    ends: Int32Array.from(ends),
    tokens: { items: Int32Array.from(tokens), starts: Int32Array.from([...starts, tokens.length]) },
    maxDepth: depths.reduce((most, depth) => Math.max(most, depth), 0),
  };
}

const encoder = new TextEncoder();

/** Only tokens that differ. */
function getFirstBytes(
  tokenizer: VocabularySource,
  tokenBytes: TokenBytes,
  bytes: readonly (Uint8Array | undefined)[],
): ReadonlyMap<number, Uint8Array> {
  const differing = new Map<number, Uint8Array>();
  const common = commonTokens.flatMap((token) => tokenizer.tokenToId(token) ?? []);
  if (common.every((id) => tokenBytes.isSameFirst(id))) return differing;
  for (const [id, own] of bytes.entries()) {
    if (own === undefined || tokenBytes.isSameFirst(id)) continue;
    const first = tokenBytes.addedFirst(id);
    if (first !== undefined) differing.set(id, first);
  }
  return differing;
}

/** The bytes that each token adds to a text. */
function bytesOfTokens(
  tokenizer: VocabularySource,
  tokenBytes: TokenBytes,
  kept: ReadonlySet<string>,
): readonly (Uint8Array | undefined)[] {
  return Array.from({ length: tokenizer.vocabularySize }, (_, id) => {
    const token = tokenizer.idToToken(id) ?? "";
    return tokenBytes.added(id) ?? (kept.has(token) ? encoder.encode(token) : undefined);
  });
}
