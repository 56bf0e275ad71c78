/**
 * `Unigram` of the Rust library (SentencePiece; Kudo 2018, https://arxiv.org/abs/1804.10959): the segmentation of a piece with the highest sum of
 * token log probabilities, found by the Viterbi algorithm.
 */
import { characterLength } from "../alignment/aligned-text.ts";
import type { Model, PieceTokens } from "./model.ts";
import { Trie } from "./trie.ts";
import { type ModelJson, byteTokenIds, booleanOption } from "./vocabulary.ts";
import { WordCache } from "./word-cache.ts";

/** Score of an unknown character, relative to the lowest score in the vocabulary (`K_UNK_PENALTY`). */
const unknownPenalty = 10;
/** Maximum length of a piece in UTF-16 code units for which memory is kept between pieces. */
const keptUnits = 65_536;

/** Unigram language model (Kudo 2018) with the settings of tokenizer.json. */
export class UnigramModel implements Model {
  readonly vocabulary: ReadonlyMap<string, number>;
  readonly unknownId: number | undefined;
  readonly keepsUnknownText: boolean = true;
  readonly #scores: Float64Array;
  readonly #idCount: number;
  readonly #unknownScore: number;
  readonly #byteTokens: Int32Array | undefined;
  readonly #trie: Trie;
  readonly #cache: WordCache = new WordCache((piece) => this.#split(piece));
  /** Per unit of the current piece: best score of a segmentation up to it, id of its last token, and start of that token (-1: none found yet). */
  #best = new Float64Array(64);
  #ids = new Int32Array(64);
  #starts = new Int32Array(64);

  constructor(model: ModelJson) {
    const entries = model["vocab"] as readonly (readonly [string, number])[];
    this.vocabulary = new Map(entries.map(([token], id) => [token, id]));
    // Pieces without an id of their own have numbers after the ids while the best segmentation is searched.
    const nameless = (model["nameless_pieces"] ?? []) as readonly (readonly [string, number])[];
    this.#scores = Float64Array.from([...entries, ...nameless], ([, score]) => score);
    const unknown = model["unk_id"] ?? undefined;
    if (unknown !== undefined && !(typeof unknown === "number" && unknown >= 0 && unknown < entries.length))
      throw new Error("its model has an unk_id that is outside its vocabulary");
    this.unknownId = unknown;
    // A token without a finite score is never found in a text; a run of unknown characters may be one.
    const found = this.#scores.filter((score) => Number.isFinite(score));
    this.#unknownScore = found.reduce((lowest, score) => Math.min(lowest, score), Infinity) - unknownPenalty;
    this.#idCount = entries.length;
    const isWhole = nameless.length === 0 && found.length === entries.length;
    const texts = [...this.vocabulary, ...nameless.map(([token], index) => [token, entries.length + index] as const)];
    this.#trie = new Trie(isWhole ? this.vocabulary : texts.filter(([, id]) => Number.isFinite(this.#scores[id])));
    this.#byteTokens = booleanOption(model, "byte_fallback") ? byteTokenIds(this.vocabulary) : undefined;
  }

  tokenize(piece: string): PieceTokens {
    return this.#cache.tokenize(piece);
  }

  #split(piece: string): PieceTokens {
    this.#searchBest(piece);
    const tokens: number[] = [];
    const [ids, starts] = [this.#ids, this.#starts];
    // Collected from the end, each token as end, start, id; reversed below.
    for (let end = piece.length; end > 0;) {
      const id = ids[end] as number;
      let start = starts[end] as number;
      if (id === this.unknownId) {
        while (start > 0 && ids[start] === id) start = starts[start] as number;
        this.#pushUnknown(piece, start, end, tokens);
      } else tokens.push(end, start, id < this.#idCount ? id : (this.unknownId ?? 0));
      end = start;
    }
    if (ids.length > keptUnits) this.#makeRoom(0);
    return tokens.reverse();
  }

  #searchBest(piece: string): void {
    const size = piece.length;
    this.#makeRoom(size + 1);
    const [best, ids, starts, trie] = [this.#best, this.#ids, this.#starts, this.#trie];
    for (let end = 0; end <= size; end++) starts[end] = -1;
    best[0] = 0;
    for (let start = 0; start < size;) {
      const soFar = best[start] as number;
      const length = characterLength(piece, start);
      let single = false;
      let node = 0;
      for (let end = start; end < size;) {
        node = trie.step(node, piece.charCodeAt(end++));
        if (node === -1) break;
        const id = trie.idAt(node);
        if (id === -1) continue;
        const score = (this.#scores[id] as number) + soFar;
        if (starts[end] === -1 || score > (best[end] as number)) {
          best[end] = score;
          starts[end] = start;
          ids[end] = id;
        }
        if (end - start === length) single = true;
      }
      const next = start + length;
      if (!single && (starts[next] === -1 || this.#unknownScore + soFar > (best[next] as number))) {
        if (this.unknownId === undefined) throw new Error("has no id for a token it made, and no unknown token");
        best[next] = this.#unknownScore + soFar;
        starts[next] = start;
        ids[next] = this.unknownId;
      }
      start = next;
    }
  }

  /** Adds consecutive unknown characters as one unknown token, or as their byte tokens if the model has byte fallback. */
  #pushUnknown(piece: string, start: number, end: number, tokens: number[]): void {
    const text = piece.slice(start, end);
    const known = this.vocabulary.get(text);
    const bytes = this.#byteTokens;
    if (known === undefined && bytes !== undefined) {
      const ids = Array.from(new TextEncoder().encode(text), (byte) => bytes[byte] as number);
      if (!ids.includes(-1)) {
        for (const id of ids.toReversed()) tokens.push(end, start, id);
        return;
      }
    }
    tokens.push(end, start, known ?? this.unknownId ?? 0);
  }

  /** Reallocates the arrays for a size; 0 shrinks them to the initial size. */
  #makeRoom(size: number): void {
    if (size > 0 && size <= this.#best.length) return;
    const room = size === 0 ? 64 : Math.max(size, 2 * this.#best.length);
    this.#best = new Float64Array(room);
    this.#ids = new Int32Array(room);
    this.#starts = new Int32Array(room);
  }
}
