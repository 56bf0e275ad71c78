/** Caches tokenizers and modules of one runtime. An entry is garbage-collected with the manifest of its model. */
import { getOrInsert } from "../../contract/checked.ts";
import type { TextSettings, VectorModule } from "../../models/manifest.ts";
import { type Tokenizer, loadTokenizer } from "../../tokenizers/index.ts";
import type { TokenizerThreads } from "../../tokenizers/tokenizer-threads.ts";
import type { PostPooling } from "./post-pooling.ts";

/** Reads each model's tokenizer and modules once. */
export class TokenizerCache {
  readonly #tokenizers = new WeakMap<TextSettings, Promise<Tokenizer>>();
  readonly #threads: TokenizerThreads | undefined;
  readonly #chains = new WeakMap<readonly VectorModule[], Promise<PostPooling>>();

  /** `threads`: worker threads for long texts. Default: none. */
  constructor(threads?: TokenizerThreads) {
    this.#threads = threads;
  }

  /** The tokenizer of a model, read on first use. */
  get(settings: TextSettings): Promise<Tokenizer> {
    return getOrInsert(this.#tokenizers, settings, () => loadTokenizer(settings, this.#threads));
  }

  /** A list of modules of a manifest, read on first use. */
  getModules(modules: readonly VectorModule[]): Promise<PostPooling> {
    return getOrInsert(this.#chains, modules, () => readChain(modules));
  }
}

/** Imported on demand: few models have such modules. */
async function readChain(modules: readonly VectorModule[]): Promise<PostPooling> {
  const { loadPostPooling } = await import("./post-pooling.ts");
  return await loadPostPooling(modules);
}
