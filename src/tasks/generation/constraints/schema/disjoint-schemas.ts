/** Whether no value is valid by two schemas. */
import { compareDecimals } from "../automata/decimals.ts";
import { intersection } from "../automata/automaton.ts";
import { chargeSteps } from "../constraint-budget.ts";
import type { FlatSchema, SchemaContext, StringContext } from "./schema-context.ts";
import {
  canonical,
  highest,
  isClosed,
  isNumberValue,
  lowerLimit,
  lowest,
  getMap,
  requiredNames,
  getJsonType,
  getTypes,
  upperBound,
} from "./keywords.ts";
import type { SchemaPart, SchemaPlace } from "./schema-document.ts";

/** Services for comparing schemas. */
export interface DisjointContext {
  readonly schemas: SchemaContext;
  readonly strings: StringContext;
}

/** Depth to which members of objects are looked at. */
const maxDepth = 4;

/** Whether lists of schemas are known to exclude each other. Each list must be valid as a whole. */
function alwaysDisjoint(
  context: DisjointContext,
  left: readonly SchemaPlace[],
  right: readonly SchemaPlace[],
  depth: number,
): boolean {
  if (depth === 0) return false;
  const [one, other] = [context.schemas.flatten(left), context.schemas.flatten(right)];
  return one === undefined || other === undefined || flatsDisjoint(context, one, other, depth);
}

/** Whether two schemas are known to exclude each other. */
export function flatsDisjoint(context: DisjointContext, one: FlatSchema, other: FlatSchema, depth: number = maxDepth): boolean {
  chargeSteps(20);
  if (one.options !== undefined)
    return one.options.every((option) => isDisjointWith(context, [...one.parts, ...option], other, depth));
  if (other.options !== undefined)
    return other.options.every((option) => isDisjointWith(context, [...other.parts, ...option], one, depth));
  const [first, second] = [one.parts, other.parts];
  const shared = getTypes([...first, ...second]);
  if (shared.length === 0) return true;
  const values = [getValues(first), getValues(second)];
  if (values[0] !== undefined && values[1] !== undefined)
    return [...values[0].keys()].every((key) => values[1]?.has(key) !== true);
  for (const [index, list] of values.entries()) {
    const types = getTypes(index === 0 ? second : first);
    const isOfType = (value: unknown): boolean =>
      types.includes(getJsonType(value)) || (isNumberValue(value) && types.includes("number"));
    if (list !== undefined && [...list.values()].every((value) => !isOfType(value))) return true;
  }
  return shared.every((type) => {
    if (type === "object") return objectsDisjoint(context, first, second, depth);
    if (type === "string") return stringsDisjoint(context, first, second);
    if (type === "number" || type === "integer") return rangesDisjoint([...first, ...second]);
    return type === "array" && highest([...first, ...second], "minItems", 0) > lowest([...first, ...second], "maxItems");
  });
}

function rangesDisjoint(parts: readonly SchemaPart[]): boolean {
  const [lower, upper] = [lowerLimit(parts, "minimum"), upperBound(parts, "maximum")];
  return lower !== undefined && upper !== undefined && compareDecimals(lower, upper) > 0;
}

function isDisjointWith(context: DisjointContext, list: readonly SchemaPlace[], other: FlatSchema, depth: number): boolean {
  if (depth <= 1) return false;
  const flat = context.schemas.flatten(list);
  return flat === undefined || flatsDisjoint(context, flat, other, depth - 1);
}

/** The values that `const` or `enum` list, by their canonical text; undefined if neither is there. */
export function getValues(parts: readonly SchemaPart[]): ReadonlyMap<string, unknown> | undefined {
  const listed = parts.flatMap(({ keywords }) =>
    "const" in keywords ? [[keywords["const"]]] : Array.isArray(keywords["enum"]) ? [keywords["enum"]] : [],
  );
  return listed[0] === undefined ? undefined : new Map(listed[0].map((value) => [canonical(value), value]));
}

function stringsDisjoint({ strings }: DisjointContext, first: readonly SchemaPart[], second: readonly SchemaPart[]): boolean {
  if (
    [...first, ...second].every(({ keywords }) =>
      ["pattern", "format", "minLength", "maxLength"].every((keyword) => keywords[keyword] === undefined),
    )
  )
    return false;
  return intersection(strings.stringDfa(first), strings.stringDfa(second)).isEmpty;
}

function objectsDisjoint(
  context: DisjointContext,
  first: readonly SchemaPart[],
  second: readonly SchemaPart[],
  depth: number,
): boolean {
  const required = new Set([...requiredNames(first), ...requiredNames(second)]);
  chargeSteps(required.size);
  return [...required].some((name) =>
    alwaysDisjoint(
      context,
      getSchemaMembers(context.schemas, first, name),
      getSchemaMembers(context.schemas, second, name),
      depth - 1,
    ),
  );
}

/** The schemas of the member of a name, as far as its name alone says. */
export function getSchemaMembers(
  { document }: SchemaContext,
  parts: readonly SchemaPart[],
  name: string,
): readonly SchemaPlace[] {
  return parts.flatMap((part): readonly SchemaPlace[] => {
    const properties = getMap(part, "properties");
    if (Object.hasOwn(properties, name)) return [document.below(part, properties[name], "properties", name)];
    return isClosed(part) ? [false] : [];
  });
}
