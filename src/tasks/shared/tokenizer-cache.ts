/** Caches tokenizers and post-pooling modules of one runtime. An entry is garbage-collected with the manifest of its model. */
import type { TextSettings } from "../../models/manifest.ts";
import { type Tokenizer, loadTokenizer } from "../../tokenizers/index.ts";
import type { TokenizerThreads } from "../../tokenizers/tokenizer-threads.ts";
import type { PostPooling } from "../embedding/post-pooling.ts";

/** Reads each model's tokenizer and post-pooling modules once. */
export class TokenizerCache {
  readonly #tokenizers = new WeakMap<TextSettings, Promise<Tokenizer>>();
  readonly #threads: TokenizerThreads | undefined;
  readonly #chains = new WeakMap<TextSettings, Promise<PostPooling>>();

  /** `threads`: worker threads for long texts. Default: none. */
  constructor(threads?: TokenizerThreads) {
    this.#threads = threads;
  }

  /** The tokenizer of a model, read on first use. */
  get(settings: TextSettings): Promise<Tokenizer> {
    const known = this.#tokenizers.get(settings) ?? loadTokenizer(settings, this.#threads);
    this.#tokenizers.set(settings, known);
    return known;
  }

  /** The post-pooling modules of a model, read on first use. */
  getPostPooling(settings: TextSettings): Promise<PostPooling> {
    const known = this.#chains.get(settings) ?? readChain(settings);
    this.#chains.set(settings, known);
    return known;
  }
}

/** Imported on demand: few models have post-pooling modules. */
async function readChain({ vectorModules = [] }: TextSettings): Promise<PostPooling> {
  const { loadPostPooling } = await import("../embedding/post-pooling.ts");
  return await loadPostPooling(vectorModules);
}
