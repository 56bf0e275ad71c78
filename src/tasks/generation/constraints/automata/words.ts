/** Automata of listed texts, in memory that is linear in their bytes. */
import { chargeStates, chargeSteps } from "../constraint-budget.ts";
import { type Automaton, stepFreeText } from "./automaton.ts";
import { stepUtf8 } from "./utf8.ts";

const encoder = new TextEncoder();
/** Of the arrays of a trie, for each node. */
const bytesPerNode = 9;

/** One text. States are the number of bytes that were read. */
export class WordLiteral implements Automaton {
  readonly start = 0;
  readonly word: string;
  readonly bytes: Uint8Array;

  constructor(word: string) {
    this.word = word;
    this.bytes = encoder.encode(word);
    chargeStates(1, 2 * this.bytes.length + 200);
    chargeSteps(10);
  }

  step(state: number, byte: number): number {
    return this.bytes[state] === byte ? state + 1 : -1;
  }

  accepts(state: number): boolean {
    return state === this.bytes.length;
  }

  continues(state: number): boolean {
    return state < this.bytes.length;
  }
}

/**
 * A trie of texts. Nodes are numbered in the order of a walk, parents before their children, and texts in the order in which the walk meets them: the texts
 * that begin with the bytes of a node have consecutive numbers.
 */
export class WordTrie implements Automaton {
  readonly start = 0;
  /** Number of texts, each counted once. */
  readonly size: number;
  readonly nodes: number;
  /** By node: its last byte, and the number of the node after all below it. */
  readonly #bytes: Uint8Array;
  readonly #ends: Int32Array;
  /** By node: number of texts that end at nodes before it. One more element than nodes. */
  readonly #firstWords: Int32Array;

  /** The bytes of texts, without duplicates; texts with the same first bytes are adjacent. */
  constructor(words: readonly Uint8Array[]) {
    const most = words.reduce((sum, word) => sum + word.length, 1);
    chargeStates(Math.ceil(most / 16), most * bytesPerNode + 300);
    chargeSteps(most);
    const [bytes, ends, firstWords] = [new Uint8Array(most), new Int32Array(most), new Int32Array(most + 1)];
    const path: number[] = [0];
    let nodes = 1;
    let previous: Uint8Array = new Uint8Array();
    for (const [index, word] of words.entries()) {
      const shortest = Math.min(previous.length, word.length);
      let common = 0;
      while (common < shortest && previous[common] === word[common]) common += 1;
      while (path.length > common + 1) ends[path.pop() ?? 0] = nodes;
      for (let depth = common; depth < word.length; depth += 1) {
        bytes[nodes] = word[depth] ?? 0;
        firstWords[nodes] = index;
        path.push(nodes);
        nodes += 1;
      }
      firstWords[nodes] = index + 1;
      previous = word;
    }
    for (const node of path) ends[node] = nodes;
    const isFull = nodes === most;
    this.size = words.length;
    this.nodes = nodes;
    this.#bytes = isFull ? bytes : bytes.slice(0, nodes);
    this.#ends = isFull ? ends : ends.slice(0, nodes);
    this.#firstWords = isFull ? firstWords : firstWords.slice(0, nodes + 1);
  }

  /** A trie of texts in the order of `sortedWords`. */
  static of(words: readonly string[]): WordTrie {
    return new WordTrie(sortedWords(words).map((word) => encoder.encode(word)));
  }

  get isEmpty(): boolean {
    return this.size === 0;
  }

  step(node: number, byte: number): number {
    const end = this.#ends[node] ?? 0;
    for (let child = node + 1; child < end; child = this.#ends[child] ?? end) if (this.#bytes[child] === byte) return child;
    return -1;
  }

  accepts(node: number): boolean {
    return this.wordAt(node) >= 0;
  }

  continues(node: number): boolean {
    return (this.#ends[node] ?? 0) > node + 1;
  }

  /** The number of the text that ends at a node; -1: none. */
  wordAt(node: number): number {
    const word = this.#firstWords[node] ?? 0;
    return (this.#firstWords[node + 1] ?? 0) > word ? word : -1;
  }

  /** By node: the state of a decoder of UTF-8 that has read its bytes. */
  decoderStates(): Uint8Array {
    const states = new Uint8Array(this.nodes);
    for (let node = 0; node < this.nodes; node += 1) {
      const end = this.#ends[node] ?? 0;
      for (let child = node + 1; child < end; child = this.#ends[child] ?? end)
        states[child] = stepUtf8(states[node] ?? 0, this.#bytes[child] ?? 0);
    }
    return states;
  }

  /** The numbers of the texts that begin with the bytes of a node: from the first to the one before the last. */
  wordsFrom(node: number): readonly [first: number, end: number] {
    return [this.#firstWords[node] ?? 0, this.#firstWords[this.#ends[node] ?? 0] ?? 0];
  }
}

/** Texts without duplicates, sorted so that texts with the same first bytes are adjacent. */
export function sortedWords(words: readonly string[]): readonly string[] {
  chargeSteps(words.length * (10 + Math.ceil(Math.log2(words.length + 2))));
  // What JavaScript has and UTF-8 has not is the replacement character there.
  return [...new Set(words.map((word) => word.replaceAll(/\p{Surrogate}/gu, "\u{FFFD}")))].toSorted();
}

/** All of UTF-8 but the texts of a trie. States: nodes of the trie, then states of free text. */
export class OtherWords implements Automaton {
  readonly start = 0;
  readonly #words: WordTrie;
  readonly #any = Number.POSITIVE_INFINITY;
  /** By node of the trie: the state of the decoder of UTF-8. */
  readonly #utf8: Uint8Array;

  constructor(words: WordTrie) {
    this.#words = words;
    chargeStates(0, words.nodes);
    chargeSteps(words.nodes);
    this.#utf8 = words.decoderStates();
  }

  step(state: number, byte: number): number {
    const { nodes } = this.#words;
    if (state >= nodes) return this.#free(state - nodes, byte);
    const child = this.#words.step(state, byte);
    return child >= 0 ? child : this.#free(this.#utf8[state] ?? 0, byte);
  }

  accepts(state: number): boolean {
    const { nodes } = this.#words;
    return state >= nodes ? state === nodes : this.#utf8[state] === 0 && !this.#words.accepts(state);
  }

  continues(): boolean {
    return true;
  }

  freeCharacters(state: number): number {
    const { nodes } = this.#words;
    return (state < nodes ? this.#utf8[state] : state - nodes) === 0 ? this.#any : 0;
  }

  #free(utf8: number, byte: number): number {
    const next = stepFreeText(utf8, byte, 0, this.#any);
    return next < 0 ? -1 : this.#words.nodes + next;
  }
}
