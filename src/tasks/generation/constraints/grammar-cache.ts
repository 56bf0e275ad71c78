/** Grammars of one model that were compiled, so that calls with the same constraint share what they have computed. */
import { InferyardError } from "../../../contract/errors.ts";
import { ConstraintBudget } from "./constraint-budget.ts";
import type { GrammarNode } from "./grammar/grammar.ts";
import { TokenGrammar } from "./token-constraint.ts";
import { type TokenSource, TokenVocabulary } from "./token-vocabulary.ts";

/** Grammars that are kept; of more, the one that was used longest ago is dropped. */
const maxGrammars = 16;

/** A grammar before it is compiled. */
export interface GrammarSource {
  /** Sources with equal keys are equal. */
  readonly key: string;
  readonly compile: () => GrammarNode;
  /** Special tokens that stay in the text. Default: none. */
  readonly kept?: ReadonlySet<string> | undefined;
}

/** Compiles grammars for one tokenizer. */
export class GrammarCache {
  readonly #tokenizer: TokenSource | undefined;
  readonly #size: number;
  readonly #vocabularies = new Map<string, TokenVocabulary>();
  readonly #grammars = new Map<string, TokenGrammar>();

  /** `size`: number of logits. */
  constructor(tokenizer: TokenSource | undefined, size: number) {
    this.#tokenizer = tokenizer;
    this.#size = size;
  }

  /** The compiled grammar. Throws INPUT_INVALID if the model has no tokenizer, and what compiling throws. */
  of({ key, compile, kept = new Set() }: GrammarSource): TokenGrammar {
    if (this.#tokenizer === undefined) {
      throw new InferyardError("INPUT_INVALID", "the model has no tokenizer, so that its texts cannot be constrained", {
        remedy: "leave the constraint out, or add tokenizer.json to the model's folder",
      });
    }
    const keptKey = JSON.stringify([...kept].toSorted());
    const fullKey = JSON.stringify([keptKey, key]);
    const known = this.#grammars.get(fullKey);
    this.#grammars.delete(fullKey);
    const vocabulary = this.#vocabulary(this.#tokenizer, keptKey, kept);
    const grammar = known ?? TokenGrammar.compile(compile, vocabulary, new ConstraintBudget());
    this.#grammars.set(fullKey, grammar);
    const [oldest] = this.#grammars.keys();
    if (this.#grammars.size > maxGrammars && oldest !== undefined) this.#grammars.delete(oldest);
    return grammar;
  }

  #vocabulary(tokenizer: TokenSource, key: string, kept: ReadonlySet<string>): TokenVocabulary {
    const known = this.#vocabularies.get(key) ?? new TokenVocabulary(tokenizer, this.#size, kept);
    this.#vocabularies.set(key, known);
    return known;
  }
}
