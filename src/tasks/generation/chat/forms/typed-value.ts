/** Values that models write as plain text, typed by the schema of the tool. */
import { decodePercent } from "../../../../platform/percent-encoding.ts";
import { isObject } from "../../../../contract/shapes/shape.ts";
import type { Tool } from "../messages.ts";
import { compactJson } from "./json-source.ts";

type Schema = Readonly<Record<string, unknown>>;
type JsonType = "object" | "array" | "string" | "number" | "boolean" | "null";

const everyType: readonly JsonType[] = ["object", "array", "string", "number", "boolean", "null"];
const bracketed: ReadonlySet<JsonType> = new Set(["object", "array"]);
/** Schemas that are followed for one type at most: a schema may refer to itself. */
const maxSchemas = 500;

/** The schemas of the arguments of a tool. */
export class ArgumentSchemas {
  readonly #root: unknown;

  constructor(tools: readonly Tool[], name: string) {
    this.#root = tools.find((tool) => tool.name === name)?.parameters;
  }

  /** The JSON text of a value. A text is a string unless the schema allows something else that it is the text of. */
  json(text: string, path: readonly string[]): string {
    const schemas = this.#at(path);
    const types = this.#getTypes(schemas);
    const isListed = schemas.flatMap(listedStrings).includes(text);
    if (types.has("string") && (types.size === 1 || isListed)) return JSON.stringify(text);
    const json = compactJson(text.trim());
    const type = json === undefined ? undefined : getType(json);
    // Where anything goes, numbers and words are texts: templates write strings as they are.
    const accepted = types.size === everyType.length ? bracketed : types;
    return json !== undefined && type !== undefined && type !== "string" && accepted.has(type) ? json : JSON.stringify(text);
  }

  /** Whether a value may be a list, where it is not known to be an object. */
  isList(path: readonly string[]): boolean {
    const types = this.#getTypes(this.#at(path));
    return types.has("array") && (!types.has("object") || types.size === everyType.length);
  }

  /** The schemas of a member of members; `*` is an item of a list. */
  #at(path: readonly string[]): readonly unknown[] {
    return path.reduce<readonly unknown[]>(
      (schemas, name) => schemas.flatMap((schema) => this.#alternatives(schema)).flatMap((schema) => memberSchemas(schema, name)),
      this.#root === undefined ? [] : [this.#root],
    );
  }

  /** A schema with what it refers to and combines. */
  #alternatives(schema: unknown): readonly Schema[] {
    const all = new Set<Schema>();
    const open: unknown[] = [schema];
    for (let next = open.pop(); next !== undefined && all.size < maxSchemas; next = open.pop()) {
      if (!isObject(next) || all.has(next)) continue;
      all.add(next);
      open.push(
        this.#target(next["$ref"]),
        ...["allOf", "anyOf", "oneOf", "then", "else"].flatMap((keyword) => next[keyword] ?? []),
      );
    }
    return [...all];
  }

  /** The types that one of the schemas allows; without a schema, every type. */
  #getTypes(schemas: readonly unknown[]): ReadonlySet<JsonType> {
    if (schemas.length === 0) return new Set(everyType);
    return new Set(schemas.flatMap((schema) => this.#types(schema, 0)));
  }

  #types(schema: unknown, depth: number): readonly JsonType[] {
    if (schema === false) return [];
    if (!isObject(schema) || depth > 30) return everyType;
    const below = (each: unknown): readonly JsonType[] => this.#types(each, depth + 1);
    const limits: (readonly JsonType[])[] = [];
    const stated = [schema["type"] ?? []].flat();
    if (stated.length > 0) limits.push(stated.map((type) => (type === "integer" ? "number" : type)) as JsonType[]);
    const listed = "const" in schema ? [schema["const"]] : schema["enum"];
    if (Array.isArray(listed)) limits.push(listed.map((value) => getType(JSON.stringify(value))));
    if (typeof schema["$ref"] === "string") limits.push(below(this.#target(schema["$ref"])));
    for (const keyword of ["anyOf", "oneOf"]) {
      const options = schema[keyword];
      if (Array.isArray(options)) limits.push(options.flatMap(below));
    }
    if (Array.isArray(schema["allOf"])) limits.push(...schema["allOf"].map(below));
    if (limits.length === 0) limits.push(impliedTypes(schema));
    const types = everyType.filter((type) => limits.every((limit) => limit.includes(type)));
    return schema["nullable"] === true ? [...types, "null"] : types;
  }

  #target(reference: unknown): unknown {
    if (typeof reference !== "string" || !reference.startsWith("#")) return undefined;
    let value: unknown = this.#root;
    for (const name of reference.split("/").slice(1)) {
      const key = decodePercent(name).replaceAll("~1", "/").replaceAll("~0", "~");
      if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
      value = Reflect.get(value, key);
    }
    return value;
  }
}

function memberSchemas(schema: Schema, name: string): readonly unknown[] {
  if (name === "*") return [schema["items"] ?? [], schema["prefixItems"] ?? []].flat();
  const { properties, patternProperties, additionalProperties } = schema;
  if (isObject(properties) && Object.hasOwn(properties, name)) return [properties[name]];
  // Which expression matches is not looked at: it is a stranger's, and the types are those of all of them.
  const byPattern = isObject(patternProperties) ? Object.values(patternProperties) : [];
  return [...byPattern, ...(isObject(additionalProperties) ? [additionalProperties] : [])];
}

/** The types that a schema without a type means. */
function impliedTypes(schema: Schema): readonly JsonType[] {
  if ("properties" in schema || "additionalProperties" in schema) return ["object"];
  if ("items" in schema || "prefixItems" in schema) return ["array"];
  if ("pattern" in schema || "maxLength" in schema || "minLength" in schema || "format" in schema) return ["string"];
  if ("minimum" in schema || "maximum" in schema) return ["number"];
  return everyType;
}

function listedStrings(schema: unknown): readonly string[] {
  if (!isObject(schema)) return [];
  return [schema["const"], schema["enum"]].flat().filter((value) => typeof value === "string");
}

/** The type of a value by its JSON text. */
function getType(json: string): JsonType {
  const kinds: Readonly<Record<string, JsonType>> = {
    "{": "object",
    "[": "array",
    '"': "string",
    t: "boolean",
    f: "boolean",
    n: "null",
  };
  return kinds[json[0] ?? ""] ?? "number";
}
