/** The option `outputs` of the task `feature-extraction`. */
import { invalidInput } from "../../contract/errors.ts";
import { refuseUnlisted, optionConflict } from "../../runtime/options/option.ts";
import type { TextTaskOptions } from "../definition/generated-task-options.ts";
import type { AllEmbedOptions } from "./generated-embed-options.ts";

/** A form of embedding: a vector per text, weights of vocabulary tokens, or a vector per token. */
export type EmbeddingForm = "dense" | "sparse" | "multi-vector";

/** Options of `Runtime.embed` for embeddings in several forms. */
export interface EmbedOutputsOptions extends TextTaskOptions, Pick<AllEmbedOptions, "prompt"> {
  /** The forms to compute, each at most once. */
  readonly outputs: readonly EmbeddingForm[];
}

/** All values of `outputs`. */
export const embeddingForms: readonly EmbeddingForm[] = ["dense", "sparse", "multi-vector"];

/** Options of `embed` that apply to dense float vectors alone. */
const denseOptions: ReadonlySet<string> = new Set(["pooling", "normalize", "dimensions", "precision", "ranges", "stride"]);

/** Whether the options request embeddings in forms. */
export function hasOutputs(options: object): options is EmbedOutputsOptions {
  return "outputs" in options && options.outputs !== undefined;
}

/** Throws INPUT_INVALID for no outputs, an unknown one or one that is named twice, and for options of dense vectors in addition. */
export function checkEmbeddingOutputs(options: EmbedOutputsOptions): void {
  const { outputs } = options;
  if (!Array.isArray(outputs) || outputs.length === 0 || new Set(outputs).size < outputs.length) {
    throw invalidInput(
      `outputs must be a list of ${embeddingForms.join(", ")}, each at most once`,
      "correct outputs, or leave it out for dense vectors",
    );
  }
  for (const form of outputs) refuseUnlisted("outputs", form, embeddingForms);
  const given = Object.entries(options).find(([name, value]) => denseOptions.has(name) && value !== undefined);
  if (given === undefined) return;
  throw optionConflict(`${given[0]} cannot be combined with outputs`);
}
