/** The tokenizers of one runtime, and the modules after pooling: each is read once and leaves with its model's manifest. */
import type { TextSettings } from "../models/manifest.ts";
import { type Tokenizer, loadTokenizer } from "../tokenizers/index.ts";
import type { VectorChain } from "./vector-modules.ts";

export class Tokenizers {
  readonly #tokenizers = new WeakMap<TextSettings, Promise<Tokenizer>>();
  readonly #chains = new WeakMap<TextSettings, Promise<VectorChain>>();

  of(settings: TextSettings): Promise<Tokenizer> {
    const known = this.#tokenizers.get(settings) ?? loadTokenizer(settings);
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
  const { loadChain } = await import("./vector-modules.ts");
  return await loadChain(vectorModules);
}
