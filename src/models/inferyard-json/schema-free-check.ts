/**
 * Accepts the usual inferyard.json without zod, whose import takes 55 ms of a cold start of 300. What is not accepted here is not yet wrong: the schema
 * decides, and says what is wrong. A test holds that the schema accepts whatever is accepted here.
 */
import type { InferyardJson } from "./schema.ts";

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === "string";
const isNonEmptyText: Check = (value) => typeof value === "string" && value !== "";
const isBoolean: Check = (value) => typeof value === "boolean";
const isPositiveInteger: Check = (value) => Number.isSafeInteger(value) && (value as number) > 0;
const isTolerance: Check = (value) => Number.isFinite(value) && (value as number) >= 0;
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const isRecordOf =
  (check: Check): Check =>
  (value) =>
    isObject(value) && Object.entries(value).every(([key, entry]) => key !== "" && key !== "__proto__" && check(entry));
const matches =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === "string" && pattern.test(value);
/** An object with these fields at most. `required`: the names that must be there. */
const isObjectOf =
  (fields: Readonly<Record<string, Check>>, required: readonly string[] = []): Check =>
  (value) =>
    isObject(value) &&
    required.every((name) => Object.hasOwn(value, name)) &&
    Object.entries(value).every(([name, field]) => Object.hasOwn(fields, name) && fields[name]?.(field) === true);

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

const variant = isObjectOf(
  {
    file: isNonEmptyText,
    format: matches(/^(onnx|safetensors|gguf)$/),
    precision: matches(/^(fp32|fp16|bf16|int8|int4)$/),
    sha256: matches(/^[0-9a-fA-F]{64}$/),
    size: isPositiveInteger,
    architecture: isText,
    aliases: isListOf(isText),
  },
  ["file"],
);

/** Four characters for every three bytes, padded: a stricter form than the schema's. */
const isBase64: Check = (value) => typeof value === "string" && value.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(value);
const answer = isObjectOf({ text: isText, embedding: isBase64, tolerance: isTolerance }, ["text", "embedding", "tolerance"]);
const isAnswerList: Check = (value) => Array.isArray(value) && value.length > 0 && value.every(answer);

/** Fields that are not here (`requirements`, `preferred`, `fallbacks`, inputs of `probe`) are left to the schema. */
const fields = {
  $schema: isText,
  name: isNonEmptyText,
  tasks: isListOf(isText),
  variants: isRecordOf(variant),
  tokenizer: isNonEmptyText,
  pooling: matches(/^(mean|cls|max|last|none)$/),
  normalize: isBoolean,
  maxTokens: (value) => value === null || isPositiveInteger(value),
  specialTokens: isBoolean,
  dropUnknown: isBoolean,
  prompts: isRecordOf(isText),
  defaultPrompt: isText,
  backends: isListOf(matches(/^[a-z]+$/)), // targets with a device are left to the schema
  license: isText,
  provenance: () => true,
  probe: isObjectOf({ texts: isAnswerList }),
} satisfies { readonly [Name in keyof InferyardJson]?: Check };

/** Whether a value is certainly a valid inferyard.json; false leaves it to `inferyardSchema`. `value` comes from JSON.parse. */
export const isPlainInferyardJson: (value: unknown) => boolean = isObjectOf(fields);
