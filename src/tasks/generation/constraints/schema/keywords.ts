/** Keywords of JSON Schema: which are supported, and reading their values. */
import { JsonNumber, getEntries, isJsonObject, jsonText } from "../../../../formats/json/exact-json.ts";
import { type Decimal, compareDecimals, parseDecimal, isWhole, writtenLength } from "../automata/decimals.ts";
import { constraintRefusal } from "../refusal.ts";
import { type SchemaPart, getPlace } from "./schema-document.ts";

/** Keywords that are refused wherever they say something. */
const refused: ReadonlyMap<string, string> = new Map([
  ["$dynamicRef", "dynamic references are not supported"],
  ["$recursiveRef", "recursive references are not supported"],
  ["unevaluatedProperties", "what other schemas have evaluated is not followed"],
  ["unevaluatedItems", "what other schemas have evaluated is not followed"],
  ["extends", "keywords of draft 3 are not supported"],
  ["disallow", "keywords of draft 3 are not supported"],
  ["divisibleBy", "keywords of draft 3 are not supported"],
]);

/** Keywords that say nothing of values. */
export const annotations: readonly string[] = [
  "title",
  "description",
  "$comment",
  "default",
  "examples",
  "$schema",
  "deprecated",
  "readOnly",
  "writeOnly",
];
/** Keywords that say where a schema and what it refers to are. */
export const locations: readonly string[] = ["$defs", "definitions", "$id", "id"];

/** Throws INPUT_INVALID for a keyword with a meaning that is not supported. Other words are annotations, as in JSON Schema. */
export function refuseUnsupported(part: SchemaPart): void {
  const { keywords } = part;
  for (const [keyword, why] of refused) {
    if (keywords[keyword] === undefined || (keyword.startsWith("unevaluated") && keywords[keyword] === true)) continue;
    throw unsupported(part, keyword, why);
  }
  if (part.draft === 3 && keywords["required"] === true)
    throw unsupported(part, "required", "keywords of draft 3 are not supported");
  if (keywords["uniqueItems"] === true && !(isNumberValue(keywords["maxItems"]) && Number(keywords["maxItems"]) <= 1))
    throw unsupported(part, "uniqueItems", "whether items differ is not followed");
  if (
    keywords["contains"] !== undefined &&
    !(Number(keywords["minContains"] ?? 1) === 0 && keywords["maxContains"] === undefined)
  )
    throw unsupported(part, "contains", "counting items of a kind is not supported");
}

function unsupported(part: SchemaPart, keyword: string, why: string): Error {
  return constraintRefusal(why, "leave it out, and check the value when it is there", getPlace(part, keyword));
}

/** INPUT_INVALID for a keyword. */
export function invalidKeyword(part: SchemaPart, keyword: string, problem: string): Error {
  return constraintRefusal(problem, "correct it", getPlace(part, keyword));
}

/** Digits of a bound at most, written without an exponent. */
const maxDigits = 400;

/** The number that a keyword states. */
function getNumber(part: SchemaPart, keyword: string): number | undefined {
  const decimal = decimalAt(part, keyword);
  return decimal === undefined ? undefined : Number(decimal);
}

/** The number that a keyword states, as it is written. */
export function decimalAt(part: SchemaPart, keyword: string): Decimal | undefined {
  const value = part.keywords[keyword];
  if (value === undefined || typeof value === "boolean") return undefined;
  const decimal = isNumberValue(value) ? parseDecimal(jsonText(value)) : undefined;
  if (decimal === undefined || !Number.isFinite(Number(decimal)))
    throw invalidKeyword(part, keyword, `is ${jsonText(value)}, and must be a number`);
  if (writtenLength(decimal) > maxDigits) throw invalidKeyword(part, keyword, `has more than ${maxDigits} digits`);
  return decimal;
}

/** Whether a value of `parseExactJson` is a number. */
export function isNumberValue(value: unknown): value is number | JsonNumber {
  return typeof value === "number" || value instanceof JsonNumber;
}

/** The text that a keyword states. */
export function getTextKeyword(part: SchemaPart, keyword: string): string | undefined {
  const value = part.keywords[keyword];
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw invalidKeyword(part, keyword, `is ${JSON.stringify(value)}, and must be a string`);
  return value;
}

/** The list that a keyword states. Default: an empty one. */
export function getListKeyword(part: SchemaPart, keyword: string): readonly unknown[] {
  const value = part.keywords[keyword];
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw invalidKeyword(part, keyword, "must be a list");
  return value;
}

/** The names that a keyword lists. A boolean, as draft 3 has it, lists none. */
function getNames(part: SchemaPart, keyword: string): readonly string[] {
  if (typeof part.keywords[keyword] === "boolean") return [];
  return getListKeyword(part, keyword).filter((name) => typeof name === "string");
}

/** The schemas, by name, that a keyword states. */
export function getMap(part: SchemaPart, keyword: string): Readonly<Record<string, unknown>> {
  const value = part.keywords[keyword];
  if (value === undefined) return {};
  if (!isJsonObject(value)) throw invalidKeyword(part, keyword, "must be an object");
  return value;
}

/** The greatest of the lower bounds that several schemas state. */
export function highest(parts: readonly SchemaPart[], keyword: string, otherwise: number): number {
  return parts.reduce((most, part) => Math.max(most, getNumber(part, keyword) ?? otherwise), otherwise);
}

/** The smallest of the upper bounds that several schemas state. */
export function lowest(parts: readonly SchemaPart[], keyword: string): number {
  return parts.reduce((least, part) => Math.min(least, getNumber(part, keyword) ?? least), Number.POSITIVE_INFINITY);
}

/** As `highest`, in the notation of the schema. Undefined: there is none. */
export function lowerLimit(parts: readonly SchemaPart[], keyword: string): Decimal | undefined {
  const bounds = parts.flatMap((part) => decimalAt(part, keyword) ?? []);
  return bounds.length === 0 ? undefined : bounds.reduce((most, each) => (compareDecimals(each, most) > 0 ? each : most));
}

/** As `lowest`, in the notation of the schema. Undefined: there is none. */
export function upperBound(parts: readonly SchemaPart[], keyword: string): Decimal | undefined {
  const bounds = parts.flatMap((part) => decimalAt(part, keyword) ?? []);
  return bounds.length === 0 ? undefined : bounds.reduce((least, each) => (compareDecimals(each, least) < 0 ? each : least));
}

/** Whether a schema allows the members alone that it lists. */
export function isClosed({ keywords }: SchemaPart): boolean {
  return keywords["additionalProperties"] === false && keywords["patternProperties"] === undefined;
}

/** Types of values. "number" includes integers. */
export type JsonType = "object" | "array" | "string" | "number" | "integer" | "boolean" | "null";

const everyType: readonly JsonType[] = ["object", "array", "string", "number", "boolean", "null"];

/** The types that all of several schemas allow. */
export function getTypes(parts: readonly SchemaPart[]): readonly JsonType[] {
  return parts.reduce<readonly JsonType[]>((types, part) => {
    const { type } = part.keywords;
    if (type === undefined || type === "any") return types;
    const own = [type].flat();
    const unknown = own.find((name) => ![...everyType, "integer"].includes(name as JsonType));
    if (unknown !== undefined) throw invalidKeyword(part, "type", `${JSON.stringify(unknown)} is no type`);
    return types.flatMap((name): readonly JsonType[] => {
      if (own.includes(name)) return [name];
      if (name === "number" && own.includes("integer")) return ["integer"];
      return name === "integer" && own.includes("number") ? ["integer"] : [];
    });
  }, everyType);
}

/** The type of a value. */
export function getJsonType(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (isNumberValue(value)) return isWhole(parseDecimal(jsonText(value))) ? "integer" : "number";
  return typeof value as JsonType;
}

/** The names that several schemas require. */
export function requiredNames(parts: readonly SchemaPart[]): ReadonlySet<string> {
  return new Set(parts.flatMap((part) => getNames(part, "required")));
}

/** Canonical text of a value: equal values have the same text, without regard to the order of members. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (isNumberValue(value)) return parseDecimal(jsonText(value));
  if (!isJsonObject(value)) return JSON.stringify(value);
  const members = getEntries(value).map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`);
  return `{${members.toSorted().join()}}`;
}
