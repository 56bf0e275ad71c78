/**
 * JSON in canonical form: the JSON Canonicalization Scheme (RFC 8785). Members are sorted by the UTF-16 code units of their names, there is no white space, and numbers
 * and strings are written as ECMAScript writes them.
 */
import { type InferyardError, invalidInput } from "../contract/errors.ts";

/** The canonical form of a value. Throws INPUT_INVALID for values outside of JSON: NaN, infinities, undefined, functions, bigints, and lone surrogates. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw notJson(`the number ${value}`);
    return JSON.stringify(value);
  }
  if (typeof value === "string") return canonicalString(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object") throw notJson(`a value of type ${typeof value}`);
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${canonicalString(name)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

function canonicalString(text: string): string {
  // With the flag "u" a surrogate pair is one character, so that this matches lone surrogates alone.
  if (/\p{Surrogate}/u.test(text)) throw notJson("a string with a lone surrogate");
  return JSON.stringify(text);
}

function notJson(what: string): InferyardError {
  return invalidInput(`${what} has no canonical form in JSON (RFC 8785)`);
}
