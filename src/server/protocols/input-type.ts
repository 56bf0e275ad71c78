/** What a text is for, as Cohere's clients say it, and the prompt of the model that belongs to it. */
import { InferyardError } from "../../errors.ts";
import type { Manifest } from "../../models/manifest.ts";

/** Uses of a text. "image" is known and not supported. */
export const inputTypes = ["search_document", "search_query", "classification", "clustering", "image"] as const;

/** What a text is for. */
export type InputType = (typeof inputTypes)[number];

/** Names under which models' files have the prompt of each use, in the order in which they are tried. */
const promptNames: Readonly<Record<InputType, readonly string[]>> = {
  search_query: ["query", "search_query"],
  search_document: ["document", "passage", "corpus", "search_document"],
  classification: ["classification", "Classification"],
  clustering: ["clustering", "Clustering"],
  image: [],
};

/**
 * The option `prompt` of `embed` for texts of this use. Empty for a model that has no such prompt: its vectors are the same for every use. Throws
 * NOT_BUILT for images.
 */
export function promptOption({ text }: Pick<Manifest, "text">, inputType: InputType | undefined): { readonly prompt?: string } {
  if (inputType === undefined) return {};
  if (inputType === "image") {
    throw new InferyardError("INPUT_INVALID", 'input_type "image" is not built yet: this version embeds texts', {
      remedy: 'send texts, with input_type "search_document" or "search_query"',
    });
  }
  const prompt = promptNames[inputType].find((name) => Object.hasOwn(text?.prompts ?? {}, name));
  return prompt === undefined ? {} : { prompt };
}
