/** Prompts of a model: texts that are put before an input, by name. */
import { invalidInput } from "../../contract/errors.ts";
import type { Manifest, TextSettings } from "../../models/manifest.ts";
import { nearestName } from "../../models/validation/nearest-name.ts";

/** Prompt names that `encode_document` of sentence-transformers tries, in this order. */
const documentNames = ["document", "passage", "corpus"];

/** The option `prompt` for a query or document: that name if the model has such a prompt, otherwise none. */
export function rolePrompt({ text }: Manifest, role: "query" | "document"): { readonly prompt?: string } {
  const names = role === "document" ? documentNames : [role];
  return names.some((name) => Object.hasOwn(text?.prompts ?? {}, name)) ? { prompt: role } : {};
}

/** The text of a prompt by its name; without a name the default prompt's, or "". Throws INPUT_INVALID for a name that the model does not have. */
export function promptText(model: string, text: TextSettings, asked: string | undefined): string {
  if (asked === undefined) return text.defaultPrompt === undefined ? "" : (text.prompts[text.defaultPrompt] ?? "");
  const names = asked === "document" ? documentNames : [asked];
  const name = names.find((candidate) => Object.hasOwn(text.prompts, candidate));
  if (name !== undefined) return text.prompts[name] ?? "";
  const known = Object.keys(text.prompts);
  if (known.length === 0) {
    throw invalidInput(`${model} has no prompts, so not "${asked}" either`, "leave the prompt out");
  }
  const guess = nearestName(asked, known);
  throw invalidInput(
    `${model} has no prompt "${asked}"`,
    guess === undefined ? `choose one of ${known.join(", ")}` : `did you mean "${guess}"? It has ${known.join(", ")}`,
  );
}
