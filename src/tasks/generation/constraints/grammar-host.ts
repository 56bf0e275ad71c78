/** Where grammars are compiled and masks computed: in the calling thread, or in worker threads (`threads/`). */
import { getOrInsert } from "../../../contract/checked.ts";
import type { TextSettings } from "../../../models/manifest.ts";
import { type GrammarOperations, LoadedGrammar, type StateFacts } from "./loaded-grammar.ts";
import {
  type VocabularySource,
  TokenVocabulary,
  type VocabularyOptions,
  type VocabularyTables,
  readTokenVocabulary,
} from "./token-vocabulary.ts";

/** The tokenizer of a model, and the source from which another thread loads it. */
export interface HostTokenizer {
  readonly tokenizer: VocabularySource;
  readonly settings: TextSettings | undefined;
}

/** A grammar for a host, which knows it by its identity. */
export interface HostedGrammar {
  /** The text of its source. */
  readonly text: string;
  readonly vocabulary: VocabularyTables;
}

/** Facts about a compiled grammar. */
export interface CompiledFacts {
  /** Estimated memory in bytes. */
  readonly bytes: number;
  /** The state of the empty text. */
  readonly start: StateFacts;
}

/** For whom a host works. */
export interface GrammarCall {
  /** Identifies the client, whose time is limited. */
  readonly client: string;
  readonly signal?: AbortSignal | undefined;
}

/** A result, and the home of the states whose numbers it has: a number means nothing in another home. */
export interface Housed<Result> {
  readonly home: number;
  readonly result: Result;
}

/** Compiles grammars and computes masks. */
export interface GrammarHost {
  readVocabulary(tokenizer: HostTokenizer, options: VocabularyOptions): Promise<VocabularyTables>;
  /**
   * Compiles a grammar. Throws INPUT_INVALID for a constraint that is invalid, not supported or above a limit, RATE_LIMITED for a client that has used up its time,
   * and ABORTED.
   */
  compile(grammar: HostedGrammar, call: GrammarCall): Promise<CompiledFacts>;
  /** Performs an operation on a grammar, which is compiled again if its home is gone. `home`: the home of the state in `args`; in another one the result is undefined. */
  perform<Name extends keyof GrammarOperations>(
    grammar: HostedGrammar,
    operation: Name,
    args: GrammarOperations[Name]["args"],
    call: GrammarCall & { readonly home?: number | undefined },
  ): Promise<Housed<GrammarOperations[Name]["result"] | undefined>>;
  /** Frees the resources of a grammar. */
  drop(grammar: HostedGrammar): void;
}

/** Does all work in the calling thread. */
export class LocalGrammarHost implements GrammarHost {
  readonly #vocabularies = new WeakMap<VocabularyTables, TokenVocabulary>();
  readonly #grammars = new WeakMap<HostedGrammar, LoadedGrammar>();

  async readVocabulary({ tokenizer }: HostTokenizer, options: VocabularyOptions): Promise<VocabularyTables> {
    return readTokenVocabulary(tokenizer, options);
  }

  async compile(grammar: HostedGrammar): Promise<CompiledFacts> {
    const { estimatedBytes, start } = this.#load(grammar);
    return { bytes: estimatedBytes, start };
  }

  async perform<Name extends keyof GrammarOperations>(
    grammar: HostedGrammar,
    operation: Name,
    args: GrammarOperations[Name]["args"],
  ): Promise<Housed<GrammarOperations[Name]["result"]>> {
    return { home: 0, result: this.#load(grammar).perform(operation, args) };
  }

  drop(grammar: HostedGrammar): void {
    this.#grammars.delete(grammar);
  }

  #load(grammar: HostedGrammar): LoadedGrammar {
    const { text, vocabulary } = grammar;
    const tokens = getOrInsert(this.#vocabularies, vocabulary, () => new TokenVocabulary(vocabulary));
    return getOrInsert(this.#grammars, grammar, () => new LoadedGrammar(text, tokens));
  }
}
