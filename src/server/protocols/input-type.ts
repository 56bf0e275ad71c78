/** What a text is for, as clients of Cohere, Voyage, NVIDIA and Jina say it, and the prompt of the model that belongs to it. */
import { invalidInput } from "../../contract/errors.ts";
import type { Manifest } from "../../models/manifest.ts";

/** Uses of an input. "image": it is a picture, and no text. */
export const inputTypes = ["search_document", "search_query", "classification", "clustering", "image"] as const;

/** Purpose of a text. */
export type InputType = (typeof inputTypes)[number];

/** Names under which models' files have the prompt of each use, in the order in which they are tried. */
const promptNames: Readonly<Record<InputType, readonly string[]>> = {
  search_query: ["query", "search_query"],
  search_document: ["document", "passage", "corpus", "search_document"],
  classification: ["classification", "Classification"],
  clustering: ["clustering", "Clustering"],
  image: [],
};

/** The use that each word of Voyage, NVIDIA and Jina stands for; those of Cohere stand for themselves. */
const usesByWord: Readonly<Record<string, InputType | "similarity">> = {
  query: "search_query",
  document: "search_document",
  passage: "search_document",
  "retrieval.query": "search_query",
  "retrieval.passage": "search_document",
  "code.query": "search_query",
  "code.passage": "search_document",
  separation: "clustering",
  "text-matching": "similarity",
};

/** All words for the use of a text. */
export const useWords: readonly string[] = [...inputTypes, ...Object.keys(usesByWord)];

/** The option `prompt` of `embed` for a word of `useWords`, as `promptOption`. */
export function promptOfWord(manifest: Pick<Manifest, "text">, word: string | undefined): { readonly prompt?: string } {
  const use = word === undefined ? undefined : (usesByWord[word] ?? (word as InputType));
  return use === "similarity" ? promptNamed(manifest, ["text-matching", "STS", "similarity"]) : promptOption(manifest, use);
}

/**
 * The option `prompt` of `embed` for texts of this use. Empty for a model that has no such prompt: its vectors are the same for every use. Throws
 * INPUT_INVALID for "image".
 */
export function promptOption(manifest: Pick<Manifest, "text">, inputType: InputType | undefined): { readonly prompt?: string } {
  if (inputType === undefined) return {};
  if (inputType === "image") {
    throw invalidInput(
      'input_type "image" is for pictures, and this request has texts',
      'send texts with input_type "search_document" or "search_query"',
    );
  }
  return promptNamed(manifest, promptNames[inputType]);
}

function promptNamed({ text }: Pick<Manifest, "text">, names: readonly string[]): { readonly prompt?: string } {
  const prompt = names.find((name) => Object.hasOwn(text?.prompts ?? {}, name));
  return prompt === undefined ? {} : { prompt };
}
