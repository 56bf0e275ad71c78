/** The OpenAPI document, in the versions that generators of clients read. */
import { invalidInput } from "../../../contract/errors.ts";
import type { Routes } from "../context.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { type ResponsePart, shareErrorResponses } from "../shared-responses.ts";

/** Adds GET /openapi.json, which describes the routes that exist at the time of the request: OpenAPI 3.1, or 3.0 with `?version=3.0`. */
export function addOpenApiDocument(
  routes: Routes,
  info: { readonly title: string; readonly version: string; readonly description: string },
): void {
  routes.get("/openapi.json", (context) => {
    const wanted = context.req.query("version") ?? "3.1";
    const versions: Readonly<Record<string, (document: ResponsePart) => ResponsePart>> = {
      "3.0": asOpenApi30,
      "3.1": asOpenApi31,
    };
    const convert = Object.hasOwn(versions, wanted) ? versions[wanted] : undefined;
    if (convert === undefined)
      throw invalidInput(
        `there is no OpenAPI document of version ${JSON.stringify(wanted.slice(0, 20))}`,
        "version is 3.0 or 3.1",
      );
    const document = routes.getOpenAPI31Document({ openapi: "3.1.0", info });
    return context.json(convert(shareErrorResponses({ ...document })));
  });
}

/**
 * The document as OpenAPI 3.0.3, which has the JSON schema of an early draft: types with null become `nullable`, constants an `enum` of one value,
 * tuples arrays, and exclusive limits flags. Alternatives for which the generator of Java writes code that does not compile become any value. Constants and enumerations of booleans, which 3.0's generators cannot name, become booleans.
 */
export function asOpenApi30(document: ResponsePart): ResponsePart {
  const { webhooks: _webhooks, ...others } = document; // 3.0 has none, and neither has the server
  return { ...(mapSchemas(others, schema30) as ResponsePart), openapi: "3.0.3" };
}

/**
 * The document as OpenAPI 3.1, without two constructs that generators do not read: `items: false` after `prefixItems`, which `maxItems` expresses as well, and
 * `additionalProperties: {}`, which means `true`.
 */
export function asOpenApi31(document: ResponsePart): ResponsePart {
  return mapSchemas(document, schema31) as ResponsePart;
}

/** The value with `change` applied to every schema in it, from the innermost outwards. Examples and enumerations stay as they are. */
function mapSchemas(value: unknown, change: (schema: ResponsePart) => ResponsePart): unknown {
  if (Array.isArray(value)) return value.map((item) => mapSchemas(item, change));
  if (!isObject(value)) return value;
  const mapped = Object.entries(value).map(([key, member]) => [
    key,
    key === "example" || key === "enum" || key === "const" || key === "default" ? member : mapSchemas(member, change),
  ]);
  return change(Object.fromEntries(mapped) as ResponsePart);
}

function schema31(schema: ResponsePart): ResponsePart {
  const { items, additionalProperties, ...others } = schema;
  return {
    ...others,
    ...(items === undefined || (items === false && "prefixItems" in schema) ? {} : { items }),
    ...(additionalProperties === undefined
      ? {}
      : { additionalProperties: isEmptyObject(additionalProperties) ? true : additionalProperties }),
  };
}

function schema30(schema: ResponsePart): ResponsePart {
  return withoutMixedAlternatives(withoutNull(withoutConstant(withoutTuple(withoutExclusiveLimit(schema31(schema))))));
}

/** `type: ["number", "null"]`, and alternatives one of which is null. */
function withoutNull(schema: ResponsePart): ResponsePart {
  const { type, anyOf, ...others } = schema;
  if (Array.isArray(type) && type.includes("null")) {
    const [only, ...more] = type.filter((name) => name !== "null") as string[];
    return more.length === 0
      ? { ...schema, type: only, nullable: true }
      : { ...others, anyOf: [only, ...more].map((name) => ({ type: name })), nullable: true };
  }
  if (!Array.isArray(anyOf)) return schema;
  const left = anyOf.filter((alternative) => !(isObject(alternative) && alternative["type"] === "null"));
  if (left.length === anyOf.length) return schema;
  return left.length === 1 && isObject(left[0]) && !("$ref" in left[0])
    ? { ...others, ...left[0], nullable: true }
    : { ...others, anyOf: left, nullable: true };
}

function withoutConstant({ const: constant, ...schema }: ResponsePart): ResponsePart {
  if (schema["type"] === "boolean") {
    const { enum: _values, ...others } = schema;
    return others;
  }
  return constant === undefined ? schema : { ...schema, enum: [constant] };
}

function withoutTuple({ prefixItems, ...schema }: ResponsePart): ResponsePart {
  if (!Array.isArray(prefixItems)) return schema;
  const different = new Map(prefixItems.map((item) => [JSON.stringify(item), item]));
  const [first] = different.values();
  return { ...schema, items: different.size === 1 ? first : { anyOf: [...different.values()] } };
}

function withoutExclusiveLimit(schema: ResponsePart): ResponsePart {
  const { exclusiveMinimum, exclusiveMaximum, ...others } = schema;
  return {
    ...others,
    ...(typeof exclusiveMinimum === "number" ? { minimum: exclusiveMinimum, exclusiveMinimum: true } : {}),
    ...(typeof exclusiveMaximum === "number" ? { maximum: exclusiveMaximum, exclusiveMaximum: true } : {}),
  };
}

/**
 * Alternatives one of which is an array, or an object without named members: the schema allows any value instead. The generator of Java writes code for
 * them that does not compile, or that cannot send an array.
 */
function withoutMixedAlternatives(schema: ResponsePart): ResponsePart {
  const { anyOf, ...others } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const isMixed = anyOf.some(
    (part) => isObject(part) && (part["type"] === "array" || (part["type"] === "object" && part["properties"] === undefined)),
  );
  return isMixed ? others : schema;
}

function isEmptyObject(value: unknown): boolean {
  return isObject(value) && Object.keys(value).length === 0;
}
