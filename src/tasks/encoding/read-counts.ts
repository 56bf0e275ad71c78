/** What results report about the tokens that a model read. */
import type { TokenIds } from "../../tokenizers/index.ts";

/** Fields of every result of a task on single texts. */
export interface ReadCounts {
  /** Number of tokens the model read of each text, special tokens included. */
  readonly tokens: number[];
  /** Indices of the texts that were truncated. */
  readonly truncated: number[];
}

/** The counts of texts that were read in one piece each. */
export function readCounts(encodings: readonly Pick<TokenIds, "ids" | "truncated">[]): ReadCounts {
  return {
    tokens: encodings.map(({ ids }) => ids.length),
    truncated: encodings.flatMap(({ truncated }, index) => (truncated ? [index] : [])),
  };
}
