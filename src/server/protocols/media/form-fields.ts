/** Fields of forms (multipart/form-data), which are texts, with the types that JSON has. */
import type { Option } from "../../../runtime/options/option.ts";
import { toSnakeCase } from "../../http/snake-case.ts";

/** Texts that stand for a boolean. */
const truths: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

/**
 * The fields of a form with the types of the options that they set. A list has a field of the same name for each element; of any other field the last value
 * counts. A text that is no value of its type stays a text, which the schema of the form refuses.
 */
export function readFormFields(
  texts: Readonly<Record<string, readonly string[]>>,
  options: Readonly<Record<string, Option>>,
): Record<string, unknown> {
  const types = new Map(Object.entries(options).map(([option, { type }]) => [toSnakeCase(option), type.kind]));
  const entries = Object.entries(texts).map(([field, values]): [string, unknown] => {
    const text = values.at(-1) ?? "";
    const kind = types.get(field);
    if (kind === "boolean") return [field, truths.get(text) ?? text];
    if (kind === "integer" || kind === "number") return [field, asNumber(text)];
    return [field, kind === "list" || kind === "strings" || kind === "texts" ? values : text];
  });
  return Object.fromEntries(entries);
}

/** The number that a text states; a text that states none stays one, for the schema to refuse. */
export function asNumber(text: string): number | string {
  return text.trim() === "" || Number.isNaN(Number(text)) ? text : Number(text);
}
