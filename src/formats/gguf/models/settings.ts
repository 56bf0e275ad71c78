/** Typed access to the metadata of a GGUF model under the prefix of its architecture. */
import { InferyardError } from "../../../contract/errors.ts";
import { ggufBoolean, ggufNumber, ggufNumbers, ggufText } from "../gguf-metadata.ts";
import type { GgufModel } from "./read-model.ts";

/** The settings of one model: `key` is short for `{architecture}.{key}`. */
export class GgufSettings {
  readonly #model: Pick<GgufModel, "architecture" | "metadata">;

  constructor(model: Pick<GgufModel, "architecture" | "metadata">) {
    this.#model = model;
  }

  /** A number. Throws MODEL_INVALID if the file does not state it. */
  number(key: string): number {
    const value = this.numberIfGiven(key);
    if (value !== undefined) return value;
    throw new InferyardError("MODEL_INVALID", `the metadata has no number "${this.#name(key)}"`, {
      remedy: "convert the model again with a recent convert_hf_to_gguf.py of llama.cpp",
    });
  }

  /** A number, or undefined if the file does not state it. Of an array with one number for each layer, the number if all are equal. */
  numberIfGiven(key: string): number | undefined {
    const name = this.#name(key);
    const all = ggufNumbers(this.#model.metadata, name);
    if (all === undefined) return ggufNumber(this.#model.metadata, name);
    const [first] = all;
    if (all.every((each) => each === first)) return first;
    throw new InferyardError("MODEL_UNSUPPORTED", `"${name}" differs between layers: ${all.slice(0, 8).join(", ")}`, {
      remedy: "run the model on llamacpp",
    });
  }

  /** A string, or undefined if the file does not state it. */
  textIfGiven(key: string): string | undefined {
    return ggufText(this.#model.metadata, this.#name(key));
  }

  /** A truth value, or undefined if the file does not state it. */
  booleanIfGiven(key: string): boolean | undefined {
    return ggufBoolean(this.#model.metadata, this.#name(key));
  }

  /** Throws MODEL_UNSUPPORTED if a number is stated and above 0. */
  requireNone(key: string, what: string): void {
    if ((this.numberIfGiven(key) ?? 0) <= 0) return;
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `the model has ${what} ("${this.#name(key)}"), which the engine does not compute`,
      {
        remedy: "run the model on llamacpp",
        data: { key: this.#name(key) },
      },
    );
  }

  #name(key: string): string {
    return `${this.#model.architecture}.${key}`;
  }
}
