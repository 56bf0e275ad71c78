/** The tokenizers of one runtime: each is read once and leaves with its model's manifest. */
import type { TextSettings } from "../models/manifest.ts";
import { type Tokenizer, loadTokenizer } from "../tokenizers/index.ts";

export class Tokenizers {
  readonly #tokenizers = new WeakMap<TextSettings, Promise<Tokenizer>>();

  of(settings: TextSettings): Promise<Tokenizer> {
    const known = this.#tokenizers.get(settings) ?? loadTokenizer(settings);
    this.#tokenizers.set(settings, known);
    return known;
  }
}
