/** The texts of the documents of a request. */
import { invalidInput } from "../../../contract/errors.ts";
import { encodeText } from "../../../tasks/encoding/encode-texts.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";

/** A document of a request: a text, or an object with text fields. */
export type CohereDocument = string | Readonly<Record<string, unknown>>;

/**
 * The text to rank. `fields`: fields of an object to read, in order, each on its own line after its name. Default: the field `text` without its
 * name. Throws INPUT_INVALID if a field has no text.
 */
export function textOfDocument(document: CohereDocument, index: number, fields: readonly string[] | undefined): string {
  if (typeof document === "string") return document;
  if (fields === undefined) return textField(document, "text", index);
  return fields.map((field) => `${field}: ${textField(document, field, index)}`).join("\n");
}

function textField(document: Readonly<Record<string, unknown>>, field: string, index: number): string {
  const value = Object.hasOwn(document, field) ? document[field] : undefined;
  if (typeof value === "string") return value;
  throw invalidInput(
    `document ${index} has no text in its field ${JSON.stringify(field)}`,
    "give documents as texts, or as objects with `text`, or name the fields in rank_fields",
  );
}

/** Throws INPUT_INVALID for a field that is named twice, since each occurrence would add its text again. */
export function refuseDuplicates(fields: readonly string[] = []): void {
  const twice = fields.find((field, index) => fields.indexOf(field) !== index);
  if (twice === undefined) return;
  throw invalidInput(`rank_fields has the field ${JSON.stringify(twice)} twice`, "name each field once");
}

/** The beginning of a text, at most `maxTokens` tokens of the model without special tokens. */
export async function cutText(text: string, maxTokens: number, tokenizer: Tokenizer): Promise<string> {
  const { offsets, truncated } = await encodeText(tokenizer, text, { addSpecialTokens: false, maxTokens });
  return truncated ? text.slice(0, offsets.at(-1)) : text;
}
