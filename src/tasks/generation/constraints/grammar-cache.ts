/** Grammars of one model that were compiled, so that calls with the same constraint share what was computed. */
import { abortable } from "../../../concurrency/abortable.ts";
import { SingleFlight } from "../../../concurrency/single-flight.ts";
import { invalidInput } from "../../../contract/errors.ts";
import { CompiledGrammar } from "./compiled-grammar.ts";
import type { GrammarHost, GrammarCall, HostTokenizer, HostedGrammar } from "./grammar-host.ts";
import type { GrammarSource } from "./grammar-source.ts";
import type { VocabularyTables } from "./token-vocabulary.ts";

/** Memory for the grammars of one model, in bytes. */
export const defaultGrammarCacheBytes: number = 2 ** 25;

/** Constructor arguments of a cache. */
export interface GrammarCacheParts {
  readonly host: GrammarHost;
  /** The model's tokenizer; undefined if it has none. */
  readonly tokenizer: HostTokenizer | undefined;
  /** Number of logits. */
  readonly size: number;
  /** Memory for grammars, in bytes. */
  readonly maxBytes: number;
}

/** Compiles grammars for one model. Failures are not kept, and calls for the same grammar wait for the first. */
export class GrammarCache {
  readonly #parts: GrammarCacheParts;
  readonly #vocabularies = new Map<string, Promise<VocabularyTables>>();
  /** The least recently used first. */
  readonly #grammars = new Map<string, CompiledGrammar>();
  readonly #compiling = new SingleFlight<CompiledGrammar>(() => {});

  constructor(parts: GrammarCacheParts) {
    this.#parts = parts;
  }

  /** Estimated memory of the grammars that are kept, in bytes. */
  get bytes(): number {
    return [...this.#grammars.values()].reduce((sum, { estimatedBytes }) => sum + estimatedBytes, 0);
  }

  /** Number of grammars that are kept. */
  get size(): number {
    return this.#grammars.size;
  }

  /** The compiled grammar. Throws INPUT_INVALID if the model has no tokenizer, and errors of compiling. */
  async get({ text, kept = new Set() }: GrammarSource, call: GrammarCall): Promise<CompiledGrammar> {
    const { tokenizer } = this.#parts;
    if (tokenizer === undefined) {
      throw invalidInput(
        "the model has no tokenizer, so that its texts cannot be constrained",
        "leave the constraint out, or add tokenizer.json to the model's folder",
      );
    }
    const keptKey = JSON.stringify([...kept].toSorted());
    const key = `${keptKey} ${text}`;
    // A part of the key, so that a long text is in memory once.
    const ownText = key.slice(keptKey.length + 1);
    const known = this.#grammars.get(key);
    if (known !== undefined) {
      this.#keep(key, known);
      return known;
    }
    const vocabulary = await abortable(this.#vocabulary(tokenizer, keptKey, kept), call.signal);
    const compile = async (signal: AbortSignal): Promise<CompiledGrammar> => {
      const grammar: HostedGrammar = { text: ownText, vocabulary };
      const { host } = this.#parts;
      const compiled = new CompiledGrammar(host, grammar, await host.compile(grammar, { client: call.client, signal }));
      this.#keep(key, compiled);
      return compiled;
    };
    return this.#compiling.join(key, compile, (compiled) => compiled, call.signal);
  }

  /** Makes a grammar the most recently used, and drops others until the rest is within the limit. */
  #keep(key: string, grammar: CompiledGrammar): void {
    this.#grammars.delete(key);
    this.#grammars.set(key, grammar);
    let { bytes } = this;
    for (const [other, { estimatedBytes }] of this.#grammars) {
      if (bytes <= this.#parts.maxBytes || other === key) return;
      this.#grammars.get(other)?.drop();
      this.#grammars.delete(other);
      bytes -= estimatedBytes;
    }
  }

  #vocabulary(tokenizer: HostTokenizer, key: string, kept: ReadonlySet<string>): Promise<VocabularyTables> {
    const known = this.#vocabularies.get(key);
    if (known !== undefined) return known;
    const { host, size } = this.#parts;
    const reading = host.readVocabulary(tokenizer, { size, kept });
    this.#vocabularies.set(key, reading);
    reading.catch(() => this.#vocabularies.delete(key)); // the next call reads it again
    return reading;
  }
}
