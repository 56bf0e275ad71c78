/** Fields with which requests say what a text must be, and which tools must be called, in the forms of several servers. */
import { z } from "@hono/zod-openapi";
import { parseJson } from "../../../formats/json/exact-json.ts";
import type { GenerationOptions } from "../../../tasks/generation/sampling/generated-generation-options.ts";
import type { TextConstraint } from "../../../tasks/generation/constraints/text-constraint.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { texts } from "../../http/field-schemas.ts";
import { invalidField, unsupportedField } from "./request-errors.ts";
import type { WrittenChoice } from "./tool-lists.ts";

/** Fields of OpenAI's routes: of OpenAI, of vLLM, of vLLM before 0.12, of llama.cpp, and our own. */
type ConstraintField =
  | "response_format"
  | "structured_outputs"
  | `guided_${"json" | "regex" | "choice" | "grammar"}`
  | "json_schema"
  | "grammar"
  | "unlisted_members";

/** What these fields have in a request; the form of each is checked when it is read. */
export type ConstraintRequest = { readonly [Field in ConstraintField]?: unknown };

/** Greatest number of texts to choose from. */
const maxChoices = 10_000;

/** Schemas of the fields. */
export const constraintFields: Readonly<Record<ConstraintField, z.ZodType>> = {
  response_format: z.unknown().optional().openapi({
    description:
      '`{ "type": "json_object" }`, or `{ "type": "json_schema", "json_schema": { "name", "schema" } }`: the text is JSON, by a schema. Keywords that are not supported are refused',
  }),
  structured_outputs: z
    .unknown()
    .optional()
    .openapi({ description: "As vLLM: one of `json`, `regex`, `choice`, `grammar`, `json_object`" }),
  guided_json: z.unknown().optional().openapi({ description: "As vLLM: a JSON Schema, or its text" }),
  guided_regex: z.string().optional().openapi({ description: "As vLLM: a regular expression that the whole text matches" }),
  guided_choice: texts(maxChoices, 1).optional().openapi({ description: "As vLLM: the text is one of these" }),
  guided_grammar: z.string().optional().openapi({ description: "As vLLM: a grammar in GBNF" }),
  json_schema: z.unknown().optional().openapi({ description: "As llama.cpp: a JSON Schema" }),
  grammar: z.string().optional().openapi({ description: "As llama.cpp: a grammar in GBNF" }),
  unlisted_members: z.boolean().optional().openapi({
    description:
      "Whether objects by a schema, and arguments of tools, may have members that the schema does not list. Default: false, or as the server is set",
  }),
};

/** Constraint on the text. Throws INPUT_INVALID for unknown forms, and if several fields state one. */
export function toConstraint(request: ConstraintRequest): ConstraintFieldOptions {
  const { unlisted_members: unlistedMembers } = request;
  return { ...statedConstraint(request), ...(typeof unlistedMembers === "boolean" ? { unlistedMembers } : {}) };
}

/** Options of generation that constrain the text. */
export type ConstraintFieldOptions = Pick<GenerationOptions, "constraint" | "unlistedMembers">;

function statedConstraint(request: ConstraintRequest): Pick<ConstraintFieldOptions, "constraint"> {
  const { structured_outputs: structured = {} } = request;
  if (!isObject(structured)) throw invalidField("structured_outputs", "must be an object");
  const found: (readonly [path: string, constraint: TextConstraint | undefined])[] = [
    ["response_format", responseFormat(request.response_format, "response_format")],
    ...(["json", "regex", "choice", "grammar"] as const).flatMap((kind) => [
      [`guided_${kind}`, guided(kind, request[`guided_${kind}`], `guided_${kind}`)] as const,
      [`structured_outputs.${kind}`, guided(kind, structured[kind] ?? undefined, `structured_outputs.${kind}`)] as const,
    ]),
    ["structured_outputs.json_object", structured["json_object"] === true ? { type: "json", value: "object" } : undefined],
    ["json_schema", guided("json", request.json_schema, "json_schema")],
    ["grammar", guided("grammar", request.grammar, "grammar")],
  ];
  const other = Object.keys(structured).find((field) => structured[field] !== null && !structuredFields.has(field));
  if (other !== undefined) throw unsupportedField(`structured_outputs.${other}`, other, "leave it out");
  const given = found.filter(([, constraint]) => constraint !== undefined);
  const [first, second] = given;
  if (first !== undefined && second !== undefined)
    throw invalidField(second[0], `says what the text must be, and so does ${first[0]}`, "give one of them");
  return first?.[1] === undefined ? {} : { constraint: first[1] };
}

/** Fields of vLLM that constrain the text, or its white space, which grammars decide here. */
const structuredFields: ReadonlySet<string> = new Set([
  "json",
  "regex",
  "choice",
  "grammar",
  "json_object",
  "disable_fallback",
  "disable_any_whitespace",
  "disable_additional_properties",
  "whitespace_pattern",
]);

/** The constraint of a `response_format` of chat completions, or of a `format` of responses and messages. */
export function responseFormat(format: unknown, path: string): TextConstraint | undefined {
  if (format === undefined || format === null) return undefined;
  if (!isObject(format)) throw invalidField(path, "must be an object with a type");
  const { type } = format;
  if (type === "text") return undefined;
  if (type !== "json_object" && type !== "json_schema")
    throw invalidField(`${path}.type`, `is ${JSON.stringify(type)}, and must be text, json_object or json_schema`);
  const nested = format["json_schema"];
  if (type === "json_schema" && nested !== undefined && !isObject(nested))
    throw invalidField(`${path}.json_schema`, "must be an object with a schema");
  const schema = isObject(nested) ? nested["schema"] : format["schema"];
  if (schema === undefined || schema === null) {
    if (type === "json_object") return { type: "json", value: "object" };
    throw invalidField(path, "has no schema", "give a JSON Schema");
  }
  return { type: "schema", schema: getSchema(schema, path) };
}

/** The constraint of a field of vLLM and others: a schema or its text, a pattern, texts to choose from, a grammar. Throws INPUT_INVALID. */
export function guided(kind: "json" | "regex" | "choice" | "grammar", value: unknown, path: string): TextConstraint | undefined {
  if (value === undefined) return undefined;
  if (kind === "json")
    return { type: "schema", schema: getSchema(typeof value === "string" ? parsed(value, path) : value, path) };
  if (kind === "choice") {
    if (!Array.isArray(value) || value.some((each) => typeof each !== "string"))
      throw invalidField(path, "must be a list of texts");
    return { type: "choice", choices: value as readonly string[] };
  }
  if (typeof value !== "string") throw invalidField(path, "must be a text");
  return kind === "regex" ? { type: "regex", pattern: value } : { type: "grammar", grammar: value };
}

function getSchema(value: unknown, path: string): object | boolean {
  if (isObject(value) || typeof value === "boolean") return value;
  throw invalidField(path, "must have a JSON Schema: an object");
}

function parsed(text: string, path: string): unknown {
  try {
    return parseJson(text);
  } catch {
    throw invalidField(path, "is a text that is not JSON");
  }
}

/** Which tools may or must be called, of OpenAI's `tool_choice`. Throws INPUT_INVALID for forms that are not known. */
export function toToolChoice(choice: unknown): WrittenChoice {
  if (choice === undefined || choice === null || choice === "auto") return {};
  if (choice === "none" || choice === "required") return { choice };
  const fields = isObject(choice) ? choice : {};
  const { type } = fields;
  if (type === "allowed_tools") {
    // In chat completions mode and tools are within `allowed_tools`, in responses beside the type.
    const { mode, tools } = isObject(fields["allowed_tools"]) ? fields["allowed_tools"] : fields;
    const allowed = (Array.isArray(tools) ? tools : []).map(calledName).filter((name) => name !== undefined);
    return { ...toToolChoice(mode), allowed };
  }
  const name = type === "function" || type === "custom" ? calledName(choice) : undefined;
  if (name !== undefined) return { choice: { name } };
  throw invalidField("tool_choice", 'must be "auto", "none", "required", a function with a name, or "allowed_tools"');
}

/** The name of a tool: in chat completions within `function` or `custom`, in responses beside the type. */
function calledName(tool: unknown): string | undefined {
  const { function: given, custom, name } = isObject(tool) ? tool : {};
  const found = isObject(given) ? given["name"] : isObject(custom) ? custom["name"] : name;
  return typeof found === "string" ? found : undefined;
}
