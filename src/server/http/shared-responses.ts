/** Error responses of the OpenAPI document as shared components: every route of a protocol has the same eleven. */
import { isObject } from "../../contract/shapes/shape.ts";

/** A part of a document: OpenAPI's objects and their values. */
export type ResponsePart = Readonly<Record<string, unknown>>;

/** One error response of an operation. `responses` is the object that holds it under `status`. */
interface Occurrence {
  readonly responses: Record<string, unknown>;
  readonly status: string;
  /** The response, with its members in the order in which they were written. */
  readonly text: string;
}

/**
 * The document with `components.responses`: an error response that several operations have, which is a JSON body of a named schema, becomes the
 * component "<schema><status>" ("OpenAIError404"), and the operations refer to it. Where a schema has several responses of one status, the most
 * frequent becomes the component; the others stay in their operations.
 */
export function shareErrorResponses(document: ResponsePart): ResponsePart {
  const copy = structuredClone(document);
  const components: Record<string, unknown> = {};
  for (const [name, occurrences] of Object.entries(groupByName(copy))) {
    const shared = mostFrequent(occurrences);
    if (shared.length < 2) continue;
    for (const { responses, status } of shared) {
      components[name] = responses[status];
      responses[status] = { $ref: `#/components/responses/${name}` };
    }
  }
  const others = isObject(copy["components"]) ? copy["components"] : {};
  return { ...copy, components: { ...others, responses: components } };
}

/** Error responses of all operations, by the name that the component would have. */
function groupByName(document: ResponsePart): Readonly<Record<string, Occurrence[]>> {
  const groups: Record<string, Occurrence[]> = {};
  for (const operation of getMembers(document["paths"]).flatMap(getMembers)) {
    const responses = isObject(operation) ? operation["responses"] : undefined;
    if (!isObject(responses)) continue;
    for (const [status, response] of Object.entries(responses)) {
      const schema = Number(status) >= 400 ? jsonSchemaName(response) : undefined;
      if (schema !== undefined) (groups[`${schema}${status}`] ??= []).push({ responses, status, text: JSON.stringify(response) });
    }
  }
  return groups;
}

function mostFrequent(occurrences: readonly Occurrence[]): readonly Occurrence[] {
  const byText = new Map<string, Occurrence[]>();
  for (const occurrence of occurrences) {
    const same = byText.get(occurrence.text);
    if (same === undefined) byText.set(occurrence.text, [occurrence]);
    else same.push(occurrence);
  }
  return [...byText.values()].reduce((most, same) => (same.length > most.length ? same : most), []);
}

/** Name of the schema of a response with a JSON body. Undefined if the schema has no name. */
function jsonSchemaName(response: unknown): string | undefined {
  const path = ["content", "application/json", "schema", "$ref"];
  const reference = path.reduce<unknown>((part, key) => (isObject(part) ? part[key] : undefined), response);
  return typeof reference === "string" ? reference.slice(reference.lastIndexOf("/") + 1) : undefined;
}

function getMembers(part: unknown): readonly unknown[] {
  return isObject(part) ? Object.values(part) : [];
}
