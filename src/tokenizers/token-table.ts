/** The tokens of a vocabulary by id. */
import { characterLength } from "./alignment/aligned-text.ts";
import { maxTokenUnits } from "./models/trie.ts";

/** Ids may have gaps, and the table has an entry for each: its length is limited in proportion to the vocabulary. */
const idsPerToken = 8;
const spareIds = 2 ** 16;

/** Tokens by id. The table is built at the first look-up, so not in programs that only encode texts. */
export class TokenTable {
  /** The highest id, and one more. */
  readonly length: number;
  readonly #vocabulary: ReadonlyMap<string, number>;
  readonly #added: ReadonlyMap<string, number>;
  #tokens: readonly (string | undefined)[] | undefined;

  /** `added` has precedence over `vocabulary`. Throws Error if the highest id is too high for so many tokens, or a token is too long. */
  constructor(vocabulary: ReadonlyMap<string, number>, added: ReadonlyMap<string, number>) {
    this.#vocabulary = vocabulary;
    this.#added = added;
    let highest = -1;
    let longest = "";
    // `forEach` takes half the time of an iterator while the code is interpreted.
    vocabulary.forEach((id, token) => {
      if (id > highest) highest = id;
      if (token.length > longest.length) longest = token;
    });
    for (const id of added.values()) highest = Math.max(highest, id);
    const allowed = spareIds + idsPerToken * (vocabulary.size + added.size);
    if (highest >= allowed)
      throw new Error(
        `a token has the id ${highest}, and those of ${vocabulary.size + added.size} tokens may be below ${allowed}`,
      );
    if (longest.length > maxTokenUnits)
      throw new Error(
        `a token has ${longest.length} characters, and may have ${maxTokenUnits}: ${JSON.stringify(longest.slice(0, 80))}...`,
      );
    this.length = highest + 1;
  }

  /** The token with an id; undefined if there is none. */
  get(id: number): string | undefined {
    return this.#all()[id];
  }

  /** Median length of the tokens in code points, rounded down. */
  medianLength(): number {
    const lengths = new Uint16Array(this.length);
    let count = 0;
    for (const token of this.#all()) if (token !== undefined) lengths[count++] = characterCount(token);
    const sorted = lengths.subarray(0, count).sort();
    const middle = count / 2;
    return Math.floor(((sorted[Math.ceil(middle) - 1] ?? 0) + (sorted[Math.floor(middle)] ?? 0)) / 2);
  }

  #all(): readonly (string | undefined)[] {
    if (this.#tokens !== undefined) return this.#tokens;
    const tokens = Array<string | undefined>(this.length).fill(undefined);
    for (const [token, id] of this.#vocabulary) tokens[id] = token;
    for (const [token, id] of this.#added) tokens[id] = token;
    return (this.#tokens = tokens);
  }
}

function characterCount(text: string): number {
  let count = 0;
  for (let unit = 0; unit < text.length; unit += characterLength(text, unit)) count++;
  return count;
}
