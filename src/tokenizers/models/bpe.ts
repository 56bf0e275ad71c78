/**
 * `BPE` of the Rust library: byte-pair encoding (Sennrich et al. 2016, https://aclanthology.org/P16-1162). A piece is split into characters or
 * bytes, and adjacent pairs are merged in the order of the merge list.
 */
import { characterLength } from "../alignment/aligned-text.ts";
import { characterOfByte, writeUtf8 } from "../unicode/byte-level-alphabet.ts";
import { MergeTable } from "./merge-table.ts";
import type { Model, PieceTokens } from "./model.ts";
import { Symbols } from "./symbols.ts";
import { type ModelJson, byteTokenIds, booleanOption, stringOption, readVocabulary } from "./vocabulary.ts";
import { WordCache } from "./word-cache.ts";

/**
 * Byte-pair encoding (Sennrich et al. 2016) with the settings of tokenizer.json. With `inBytes`, pieces are plain text, and the
 * model maps characters to bytes itself (ByteLevel).
 */
export class BpeModel implements Model {
  readonly vocabulary: ReadonlyMap<string, number>;
  readonly unknownId: number | undefined;
  readonly keepsUnknownText: boolean = false;
  readonly #inBytes: boolean;
  readonly #prefix: string;
  readonly #suffix: string;
  readonly #fusesUnknown: boolean;
  readonly #ignoresMerges: boolean;
  /** Ids of the tokens <0x00> to <0xFF>, if unknown characters are encoded as bytes (`byte_fallback`). */
  readonly #byteTokens: Int32Array | undefined;
  readonly #merges: MergeTable;
  readonly #symbols = new Symbols();
  readonly #bytes = new Uint8Array(4);
  readonly #cache: WordCache = new WordCache((piece) => this.#split(piece));
  /** A space symbol that occurs only at the start of tokens: no merge crosses it, so a piece can be split before it and its words cached. */
  readonly #border: string | undefined;
  /** Range of the unknown characters that are not added yet; start -1: none. */
  #unknownStart = -1;
  #unknownEnd = -1;

  constructor(model: ModelJson, inBytes: boolean) {
    this.vocabulary = readVocabulary(model);
    if (typeof model["dropout"] === "number" && model["dropout"] > 0)
      throw new Error("its model has a dropout, which gives other tokens each time");
    const unknown = stringOption(model, "unk_token");
    this.unknownId = unknown === undefined ? undefined : this.vocabulary.get(unknown);
    if (unknown !== undefined && this.unknownId === undefined)
      throw new Error(`its vocabulary has no unknown token ${JSON.stringify(unknown)}`);
    this.#inBytes = inBytes;
    this.#prefix = stringOption(model, "continuing_subword_prefix") ?? "";
    this.#suffix = stringOption(model, "end_of_word_suffix") ?? "";
    this.#fusesUnknown = booleanOption(model, "fuse_unk");
    this.#ignoresMerges = booleanOption(model, "ignore_merges");
    this.#byteTokens = booleanOption(model, "byte_fallback") ? byteTokenIds(this.vocabulary) : undefined;
    const merges = readMerges(model["merges"], this.vocabulary, this.#prefix);
    this.#merges = new MergeTable(merges, readRanks(model["merge_ranks"], merges.length / 3));
    this.#border =
      inBytes || this.#prefix !== "" || this.#suffix !== "" || this.#ignoresMerges ? undefined : getBorder(this.vocabulary);
  }

  tokenize(piece: string): PieceTokens {
    if (this.#border === undefined) return this.#cache.tokenize(piece);
    const first = piece.indexOf(this.#border, 1);
    if (first < 0) return this.#cache.tokenize(piece);
    return this.#tokenizeInParts(piece, first, this.#border);
  }

  #tokenizeInParts(piece: string, first: number, border: string): PieceTokens {
    const tokens: number[] = [];
    let start = 0;
    for (let at = first; start < piece.length; at = piece.indexOf(border, at + 1)) {
      // Several space symbols in a row may be one token.
      if (at > 0 && piece.charAt(at - 1) === border) continue;
      const end = at < 0 ? piece.length : at;
      const part = this.#cache.tokenize(piece.slice(start, end));
      for (let index = 0; index < part.length; index += 3)
        tokens.push(part[index] as number, start + (part[index + 1] as number), start + (part[index + 2] as number));
      start = end;
    }
    return tokens;
  }

  #split(piece: string): PieceTokens {
    if (this.#ignoresMerges) {
      const whole = this.vocabulary.get(this.#inBytes ? inByteCharacters(piece) : piece);
      if (whole !== undefined) return [whole, 0, piece.length];
    }
    this.#symbols.clear();
    for (let unit = 0; unit < piece.length;) {
      const end = unit + characterLength(piece, unit);
      if (this.#inBytes) this.#addBytes(piece, unit, end);
      else this.#addSymbol(piece.slice(unit, end), unit, end, unit === 0, end === piece.length);
      unit = end;
    }
    this.#settleUnknown();
    return this.#symbols.merge(this.#merges);
  }

  #addBytes(piece: string, start: number, end: number): void {
    const bytes = this.#bytes;
    const length = writeUtf8(piece.codePointAt(start) ?? 0, bytes);
    for (let index = 0; index < length; index++) {
      const first = start === 0 && index === 0;
      const last = end === piece.length && index === length - 1;
      this.#addSymbol(characterOfByte[bytes[index] as number] ?? "", start, end, first, last);
    }
  }

  #addSymbol(character: string, start: number, end: number, first: boolean, last: boolean): void {
    const symbol = (first ? "" : this.#prefix) + character + (last ? this.#suffix : "");
    const id = this.vocabulary.get(symbol);
    if (id !== undefined) {
      this.#settleUnknown();
      this.#symbols.add(id, start, end);
    } else if (!this.#addByteTokens(symbol, start, end) && this.unknownId !== undefined) {
      if (!this.#fusesUnknown) this.#settleUnknown();
      if (this.#unknownStart < 0) this.#unknownStart = start;
      this.#unknownEnd = end;
    }
  }

  /** Adds the byte tokens of a symbol, each with the offsets of the whole character. Returns false if a byte has no token. */
  #addByteTokens(symbol: string, start: number, end: number): boolean {
    const tokens = this.#byteTokens;
    if (tokens === undefined) return false;
    const ids: number[] = [];
    for (const character of symbol) {
      const length = writeUtf8(character.codePointAt(0) ?? 0, this.#bytes);
      for (let index = 0; index < length; index++) ids.push(tokens[this.#bytes[index] as number] as number);
    }
    if (ids.includes(-1)) return false;
    for (const id of ids) this.#symbols.add(id, start, end);
    return true;
  }

  #settleUnknown(): void {
    if (this.#unknownStart >= 0 && this.unknownId !== undefined)
      this.#symbols.add(this.unknownId, this.#unknownStart, this.#unknownEnd);
    this.#unknownStart = -1;
  }
}

function inByteCharacters(text: string): string {
  let spelled = "";
  for (const byte of new TextEncoder().encode(text)) spelled += characterOfByte[byte] ?? "";
  return spelled;
}

/**
 * Reads merges, "left right" or ["left", "right"], as ids: left, right, merged. A line that is not two tokens is skipped: some published copies of
 * Llama's file have one merge with a lost space character, and are correct otherwise.
 */
function readMerges(merges: unknown, vocabulary: ReadonlyMap<string, number>, prefix: string): number[] {
  const ids: number[] = [];
  for (const merge of Array.isArray(merges) ? (merges as unknown[]) : []) {
    const pair: readonly unknown[] = typeof merge === "string" ? merge.split(" ") : Array.isArray(merge) ? merge : [];
    const [left, right] = pair;
    if (pair.length !== 2 || typeof left !== "string" || typeof right !== "string") {
      if (typeof merge === "string") continue;
      throw new Error("its merges are broken: each needs two tokens");
    }
    const made = left + right.slice(prefix.length);
    const three = [vocabulary.get(left), vocabulary.get(right), vocabulary.get(made)];
    const missing = [left, right, made].find((_token, index) => three[index] === undefined);
    if (missing !== undefined)
      throw new Error(`its merges name the token ${JSON.stringify(missing)}, which its vocabulary lacks`);
    for (const id of three) if (id !== undefined) ids.push(id);
  }
  return ids;
}

/** Ranks of merges that share them, which tokenizers from GGUF files have; one for each merge. */
function readRanks(ranks: unknown, merges: number): readonly number[] | undefined {
  if (ranks === undefined) return undefined;
  if (Array.isArray(ranks) && ranks.length === merges && ranks.every((rank) => Number.isInteger(rank) && rank >= 0)) return ranks;
  throw new Error(`its merge_ranks are not ${merges} whole numbers`);
}

/** "▁" if no token contains it after another character. It must be in the vocabulary itself, since unknown characters are fused across pieces. */
function getBorder(vocabulary: ReadonlyMap<string, number>): string | undefined {
  const mark = "\u2581";
  if (!vocabulary.has(mark)) return undefined;
  for (const token of vocabulary.keys()) {
    const at = token.search(/[^\u2581]\u2581/);
    if (at >= 0) return undefined;
  }
  return mark;
}
