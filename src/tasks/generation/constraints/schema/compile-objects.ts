/** Objects of JSON as grammars. */
import { type Dfa, FreeText, difference, intersection, lengthDfa, wordsDfa } from "../automata/automaton.ts";
import { JsonString } from "../automata/json-string.ts";
import { type GrammarNode, type ObjectProperty, type OtherMember, choice, object, text } from "../grammar/grammar.ts";
import { refusal } from "../refusal.ts";
import type { SchemaContext, StringContext } from "./schema-context.ts";
import { highest, lowest, mapOf, requiredNames } from "./keywords.ts";
import type { SchemaPart, SchemaPlace } from "./schema-document.ts";
import { whitespace } from "./whitespace.ts";

/** Different expressions of `patternProperties` at most: a name may match any of them. */
const maxPatterns = 5;

interface Pattern {
  readonly source: string;
  readonly dfa: Dfa;
}

/** The grammar of the objects for which all schemas are valid. */
export function compileObject(parts: readonly SchemaPart[], schemas: SchemaContext, strings: StringContext): GrammarNode {
  const patterns = patternsOf(parts, strings);
  const required = requiredNames(parts);
  const names = new Set([...parts.flatMap((part) => Object.keys(mapOf(part, "properties"))), ...required]);
  const allowedName = nameDfa(parts, schemas, strings);
  const properties = [...names].flatMap((name): readonly ObjectProperty[] => {
    const isAllowed = allowedName?.matches(name) ?? true;
    const matching = patterns.filter(({ dfa }) => dfa.matches(name));
    const places = isAllowed ? parts.flatMap((part) => valuePlaces(part, schemas, name, matching)) : [false as const];
    if (places.includes(false) && !required.has(name)) return [];
    return [{ name, value: schemas.node(places), isRequired: required.has(name) }];
  });
  const others = otherNames({ parts, schemas, patterns, names, allowedName });
  const min = highest(parts, "minProperties", 0);
  const max = lowest(parts, "maxProperties");
  const needed = min <= required.size ? 0 : Math.ceil(min);
  if (needed > 1 && others.length > 0) {
    const part = parts.find(({ keywords }) => keywords["minProperties"] !== undefined);
    throw refusal(
      "members with names that are not listed are not told apart, so that they cannot be counted",
      "list the names, or require them",
      {
        keyword: "minProperties",
        pointer: part?.pointer ?? "",
      },
    );
  }
  if (max < 0) return choice();
  return object({ properties, others, min: needed, max: Math.floor(max), space: whitespace });
}

/** The schemas that one schema has for the member of a name. `matching`: the patterns that the name matches. */
function valuePlaces(
  part: SchemaPart,
  { document }: SchemaContext,
  name: string | undefined,
  matching: readonly Pattern[],
): readonly SchemaPlace[] {
  const properties = mapOf(part, "properties");
  const byPattern = mapOf(part, "patternProperties");
  const own =
    name !== undefined && Object.hasOwn(properties, name) ? [document.below(part, properties[name], "properties", name)] : [];
  const matched = matching
    .filter(({ source }) => Object.hasOwn(byPattern, source))
    .map(({ source }) => document.below(part, byPattern[source], "patternProperties", source));
  if (own.length > 0 || matched.length > 0) return [...own, ...matched];
  const additional = part.keywords["additionalProperties"];
  return additional === undefined ? [] : [document.below(part, additional, "additionalProperties")];
}

function patternsOf(parts: readonly SchemaPart[], strings: StringContext): readonly Pattern[] {
  const found = new Map<string, Pattern>();
  for (const part of parts) {
    for (const source of Object.keys(mapOf(part, "patternProperties"))) {
      if (!found.has(source)) found.set(source, { source, dfa: strings.pattern(part, "patternProperties", source) });
    }
    if (found.size > maxPatterns) {
      throw refusal(`has more than ${maxPatterns} expressions`, "list the names", {
        keyword: "patternProperties",
        pointer: part.pointer,
      });
    }
  }
  return [...found.values()];
}

/** Names that `propertyNames` allows; undefined: all. */
function nameDfa(parts: readonly SchemaPart[], schemas: SchemaContext, strings: StringContext): Dfa | undefined {
  const places = parts.flatMap((part) =>
    part.keywords["propertyNames"] === undefined
      ? []
      : [{ part, place: schemas.document.below(part, part.keywords["propertyNames"], "propertyNames") }],
  );
  if (places.length === 0) return undefined;
  const flat = schemas.flatten(places.map(({ place }) => place));
  if (flat === undefined) return wordsDfa([]);
  const lists = flat.parts.flatMap(({ keywords }) =>
    [keywords["enum"], "const" in keywords ? [keywords["const"]] : undefined].filter(Array.isArray),
  );
  if (
    flat.options !== undefined ||
    flat.parts.some(({ keywords }) => keywords["type"] !== undefined && ![keywords["type"]].flat().includes("string"))
  ) {
    throw refusal("only keywords of strings are supported there", "write it without choices", {
      keyword: "propertyNames",
      pointer: places[0]?.part.pointer ?? "",
    });
  }
  const words = lists.map((list) => wordsDfa(list.filter((word) => typeof word === "string")));
  return intersection(strings.stringDfa(flat.parts), ...words);
}

interface OtherNames {
  readonly parts: readonly SchemaPart[];
  readonly schemas: SchemaContext;
  readonly patterns: readonly Pattern[];
  /** Names that have a property of their own. */
  readonly names: ReadonlySet<string>;
  readonly allowedName: Dfa | undefined;
}

/** Members with other names: one for each set of patterns that a name may match. */
function otherNames({ parts, schemas, patterns, names, allowedName }: OtherNames): readonly OtherMember[] {
  const everyName = lengthDfa(0, Number.POSITIVE_INFINITY);
  return Array.from({ length: 2 ** patterns.length }, (_, subset) => {
    const matching = patterns.filter((_pattern, index) => ((subset >> index) & 1) === 1);
    const places = parts.flatMap((part) => valuePlaces(part, schemas, undefined, matching));
    if (places.includes(false)) return [];
    if (patterns.length === 0 && names.size === 0 && allowedName === undefined) {
      return [{ name: text(new JsonString(new FreeText())), value: schemas.node(places) }];
    }
    const matched = intersection(allowedName ?? everyName, ...matching.map(({ dfa }) => dfa));
    const others = patterns.filter((pattern) => !matching.includes(pattern)).map(({ dfa }) => dfa);
    const dfa = [...others, ...(names.size === 0 ? [] : [wordsDfa([...names])])].reduce(difference, matched);
    return dfa.isEmpty ? [] : [{ name: text(new JsonString(dfa)), value: schemas.node(places) }];
  }).flat();
}
