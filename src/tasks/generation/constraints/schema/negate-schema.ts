/** The negation of a schema, where other keywords can express it. */
import { annotations } from "./keywords.ts";
import { isJsonObject } from "../../../../formats/json/exact-json.ts";
import { type Draft, hasKeyword } from "./drafts.ts";

type Keywords = Readonly<Record<string, unknown>>;

/** Values that a value must not equal: a keyword of our own, which no document has. */
export const excludedKeyword = " excluded";

const allTypes = ["object", "array", "string", "number", "boolean", "null"];

/** Schemas of which one is valid exactly for the values for which `schema`, of a draft, is invalid; undefined if it has a keyword that cannot be negated. */
export function negateSchema(schema: unknown, draft: Draft | undefined): readonly Keywords[] | undefined {
  if (schema === true) return [];
  if (schema === false) return [{}];
  if (!isJsonObject(schema)) return undefined;
  const alternatives: Keywords[] = [];
  for (const [keyword, value] of Object.entries(schema)) {
    if (annotations.includes(keyword) || !hasKeyword(draft, keyword)) continue;
    const negated = negateKeyword(keyword, value, draft);
    if (negated === undefined) return undefined;
    alternatives.push(...negated);
  }
  return alternatives;
}

function negateKeyword(keyword: string, value: unknown, draft: Draft | undefined): readonly Keywords[] | undefined {
  switch (keyword) {
    case "type": {
      const types = new Set<unknown>([value].flat());
      if (types.has("integer")) return undefined;
      return [{ type: allTypes.filter((type) => !types.has(type)) }];
    }
    case "const":
      return [{ [excludedKeyword]: [value] }];
    case "enum":
      return [{ [excludedKeyword]: value }];
    case "required":
      return names(value).map((name) => ({ type: "object", properties: { [name]: false } }));
    case "properties":
      return properties(value, draft);
    case "minLength":
      return [{ type: "string", maxLength: Number(value) - 1 }];
    case "maxLength":
      return [{ type: "string", minLength: Number(value) + 1 }];
    case "minimum":
      return [{ type: "number", exclusiveMaximum: value }];
    case "maximum":
      return [{ type: "number", exclusiveMinimum: value }];
    case "minItems":
      return [{ type: "array", maxItems: Number(value) - 1 }];
    case "maxItems":
      return [{ type: "array", minItems: Number(value) + 1 }];
    case "not":
      return isJsonObject(value) || typeof value === "boolean"
        ? [value === true ? {} : value === false ? { [excludedKeyword]: [] } : value]
        : undefined;
    case "anyOf":
      return Array.isArray(value) ? conjunction(value, draft) : undefined;
    case "allOf": {
      const parts = (Array.isArray(value) ? value : [undefined]).map((each: unknown) => negateSchema(each, draft));
      return parts.some((part) => part === undefined) ? undefined : parts.flatMap((part) => part ?? []);
    }
    default:
      return undefined;
  }
}

/** None of several schemas is valid. */
function conjunction(schemas: readonly unknown[], draft: Draft | undefined): readonly Keywords[] | undefined {
  const parts = schemas.map((each) => negateSchema(each, draft));
  if (parts.some((part) => part === undefined)) return undefined;
  return [{ allOf: parts.map((part) => ({ anyOf: part })) }];
}

function properties(value: unknown, draft: Draft | undefined): readonly Keywords[] | undefined {
  if (!isJsonObject(value)) return undefined;
  const alternatives: Keywords[] = [];
  for (const [name, schema] of Object.entries(value)) {
    const negated = negateSchema(schema, draft);
    if (negated === undefined) return undefined;
    for (const other of negated) alternatives.push({ type: "object", required: [name], properties: { [name]: other } });
  }
  return alternatives;
}

function names(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];
}
