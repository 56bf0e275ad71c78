/** The tokenizers of one runtime, and the modules after pooling: each is read once and leaves with its model's manifest. */
import type { TextSettings } from "../../models/manifest.ts";
import { type Tokenizer, loadTokenizer } from "../../tokenizers/index.ts";
import type { TextThreads } from "../../tokenizers/tokenizer-threads.ts";
import type { VectorChain } from "../embedding/post-pooling.ts";

export class Tokenizers {
  readonly #tokenizers = new WeakMap<TextSettings, Promise<Tokenizer>>();
  readonly #threads: TextThreads | undefined;
  readonly #chains = new WeakMap<TextSettings, Promise<VectorChain>>();

  /** `threads`: read long texts. Default: the calling thread does. */
  constructor(threads?: TextThreads) {
    this.#threads = threads;
  }

  of(settings: TextSettings): Promise<Tokenizer> {
    const known = this.#tokenizers.get(settings) ?? loadTokenizer(settings, this.#threads);
    this.#tokenizers.set(settings, known);
    return known;
  }

  chainOf(settings: TextSettings): Promise<VectorChain> {
    const known = this.#chains.get(settings) ?? readChain(settings);
    this.#chains.set(settings, known);
    return known;
  }
}

/** Imported where it is needed: few models have such modules. */
async function readChain({ vectorModules = [] }: TextSettings): Promise<VectorChain> {
  const { loadChain } = await import("../embedding/post-pooling.ts");
  return await loadChain(vectorModules);
}
