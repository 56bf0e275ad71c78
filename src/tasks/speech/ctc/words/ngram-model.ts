/** N-gram language models with back-off (Katz 1987), in the ARPA format that SRILM and KenLM write. */
import { InferyardError } from "../../../../contract/errors.ts";
import { yieldToEventLoop } from "../../../../platform/event-loop.ts";

/** The words before a word, as ids; at most one fewer than the order of the model. */
export type NgramContext = readonly number[];

/** A language model over words. Probabilities are base-10 logarithms. */
export interface NgramModel {
  /** Number of words of the longest n-grams. */
  readonly order: number;
  has(word: string): boolean;
  /** The context of the first word of a sentence. */
  readonly sentenceStart: NgramContext;
  /** The probability of a word after a context, and the context of the word after it. An unknown word has the probability of `<unk>`. */
  score(context: NgramContext, word: string): { readonly logProbability: number; readonly next: NgramContext };
}

/** Probability of unknown words where the file has no `<unk>`, as KenLM has it. */
const missingUnknown = -100;

/** Longest n-grams that are read: KenLM's own limit is 6. */
const maxOrder = 12;

/** Lines that are read before the event loop runs. */
const linesAtOnce = 20_000;

/** N-grams as a trie: a node for each n-gram, below that of its first words. Node 0 is empty. */
class NgramTrie {
  readonly #ids = new Map<string, number>();
  /** Node by parent * 2^26 + word. */
  readonly #children = new Map<number, number>();
  readonly #probabilities: number[] = [Number.NaN];
  readonly #backoffs: number[] = [0];

  /** The id of a word; an unknown one is added. */
  add(word: string): number {
    const known = this.#ids.get(word);
    if (known !== undefined) return known;
    this.#ids.set(word, this.#ids.size + 1);
    return this.#ids.size;
  }

  idOf(word: string): number | undefined {
    return this.#ids.get(word);
  }

  child(node: number, word: number): number | undefined {
    return this.#children.get(node * 2 ** 26 + word);
  }

  insert(parent: number, word: number, probability: number, backoff: number): void {
    if (this.#probabilities.length >= 2 ** 26)
      throw new InferyardError("LIMIT_EXCEEDED", `the n-gram model has more than ${2 ** 26} n-grams`);
    this.#children.set(parent * 2 ** 26 + word, this.#probabilities.length);
    this.#probabilities.push(probability);
    this.#backoffs.push(backoff);
  }

  probability(node: number): number {
    return this.#probabilities[node] ?? Number.NaN;
  }

  backoff(node: number): number {
    return this.#backoffs[node] ?? 0;
  }
}

/** Reads an ARPA file. Throws MODEL_INVALID for bytes that are none, with the line; `name` is the file in messages. */
export async function readArpa(bytes: Uint8Array, name: string): Promise<NgramModel> {
  const trie = new NgramTrie();
  const decoder = new TextDecoder();
  let [order, section, lineNumber, isEnded, hasData] = [0, 0, 0, false, false];
  const counts: number[] = [];
  let found = 0;
  const invalid = (what: string): InferyardError =>
    new InferyardError("MODEL_INVALID", `${name}: line ${lineNumber}: ${what}`, {
      remedy: "use an n-gram model in the ARPA format, as SRILM and KenLM write it",
    });
  const closeSection = (): void => {
    const stated = counts[section - 1] ?? 0;
    if (section > 0 && found !== stated) throw invalid(`the header states ${stated} ${section}-grams, and ${found} are there`);
    found = 0;
  };
  for (let start = 0; start < bytes.length && !isEnded;) {
    let end = bytes.indexOf(10, start);
    if (end < 0) end = bytes.length;
    const line = decoder.decode(bytes.subarray(start, end)).trim();
    start = end + 1;
    lineNumber += 1;
    if (lineNumber % linesAtOnce === 0) await yieldToEventLoop();
    if (line === "") continue;
    const heading = /^\\(data|end|(\d+)-grams:?)\\?$/.exec(line);
    if (heading !== null) {
      closeSection();
      if (heading[1] === "data") hasData = true;
      else if (heading[1] === "end") isEnded = true;
      else {
        if (Number(heading[2]) !== section + 1 || section >= order) throw invalid(`unexpected section ${line}`);
        section += 1;
      }
    } else if (section > 0) {
      readNgram(trie, line, section, invalid);
      found += 1;
    } else if (hasData) {
      const count = /^ngram\s+(\d+)\s*=\s*(\d+)$/.exec(line);
      if (count === null || Number(count[1]) !== order + 1) throw invalid(`expected "ngram ${order + 1}=COUNT"`);
      order += 1;
      counts.push(Number(count[2]));
      if (order > maxOrder) throw invalid(`n-grams of ${order} words; at most ${maxOrder} are read`);
    }
  }
  if (!isEnded || order === 0) throw invalid(hasData ? "the file ends before \\end\\" : "there is no \\data\\");
  return createModel(trie, order);
}

/** Reads a line of an n-gram: its logarithm, words, and unless it is one of the longest, the weight of backing off from it. */
function readNgram(trie: NgramTrie, line: string, order: number, invalid: (what: string) => InferyardError): void {
  const fields = line.split(/[\t ]+/);
  const [probability, backoff] = [Number(fields[0]), fields.length > order + 1 ? Number(fields[order + 1]) : 0];
  if (fields.length < order + 1 || fields.length > order + 2 || Number.isNaN(probability) || Number.isNaN(backoff))
    throw invalid(`no ${order}-gram: "${line.slice(0, 80)}"`);
  let parent = 0;
  for (const word of fields.slice(1, order)) {
    const node = trie.child(parent, trie.idOf(word) ?? 0);
    // Some pruned models lack the words that an n-gram begins with; its probability is that of backing off from them then.
    if (node === undefined) return;
    parent = node;
  }
  const word = fields[order] ?? "";
  const id = order === 1 ? trie.add(/^<unk>$/i.test(word) ? "<unk>" : word) : trie.idOf(word);
  if (id === undefined) throw invalid(`the word "${word}" has no 1-gram`);
  trie.insert(parent, id, probability, backoff);
}

function createModel(trie: NgramTrie, order: number): NgramModel {
  const unknown = trie.idOf("<unk>") ?? 0;
  const unknownProbability = trie.probability(trie.child(0, unknown) ?? 0);
  const unseen = Number.isNaN(unknownProbability) ? missingUnknown : unknownProbability;
  const find = (words: NgramContext): number | undefined => {
    let node: number | undefined = 0;
    for (const word of words) node = node === undefined ? undefined : trie.child(node, word);
    return node;
  };
  const start = trie.idOf("<s>");
  return {
    order,
    has: (word) => word !== "<unk>" && trie.idOf(word) !== undefined,
    sentenceStart: start === undefined ? [] : [start].slice(0, order - 1),
    score(context, word) {
      const id = trie.idOf(word) ?? unknown;
      const next = order === 1 ? [] : [...context, id].slice(-(order - 1));
      let backoff = 0;
      for (let first = 0; first <= context.length; first += 1) {
        const node = find(context.slice(first));
        if (node === undefined) continue;
        const found = trie.child(node, id);
        if (found !== undefined) return { logProbability: backoff + trie.probability(found), next };
        if (first < context.length) backoff += trie.backoff(node);
      }
      return { logProbability: backoff + unseen, next };
    },
  };
}
