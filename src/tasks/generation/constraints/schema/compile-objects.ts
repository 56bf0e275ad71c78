/** Objects of JSON as grammars. */
import { addToList } from "../../../../contract/checked.ts";
import { getKeys } from "../../../../formats/json/exact-json.ts";
import { type Dfa, FreeText, difference, everyText, intersection, wordsDfa } from "../automata/automaton.ts";
import { JsonString } from "../automata/json-string.ts";
import { OtherWords, WordTrie } from "../automata/words.ts";
import { chargeStates, chargeSteps } from "../constraint-budget.ts";
import { type GrammarNode, type ObjectProperty, type OtherMember, choiceNode, objectNode, textNode } from "../grammar/grammar.ts";
import { constraintRefusal } from "../refusal.ts";
import type { SchemaContext, StringContext } from "./schema-context.ts";
import { highest, lowest, getMap, requiredNames } from "./keywords.ts";
import { type SchemaPart, type SchemaPlace, getPlace } from "./schema-document.ts";

/** Different expressions of `patternProperties` at most: a name may match any of them. */
const maxPatterns = 5;

interface Pattern {
  readonly source: string;
  readonly dfa: Dfa;
}

/** The grammar of the objects for which all schemas are valid. */
export function compileObject(parts: readonly SchemaPart[], schemas: SchemaContext, strings: StringContext): GrammarNode {
  chargeSteps(100);
  const patterns = getPatterns(parts, strings);
  const required = requiredNames(parts);
  const members = new MemberSchemas(parts, schemas);
  const names = new Set([...members.names, ...required]);
  const allowedName = nameDfa(parts, schemas, strings);
  const properties: ObjectProperty[] = [];
  for (const name of names) {
    chargeSteps(10 + name.length);
    const isAllowed = allowedName?.matches(name) ?? true;
    const places = isAllowed
      ? members.of(
          name,
          patterns.filter(({ dfa }) => dfa.matches(name)),
        )
      : [false as const];
    if (places.includes(false) && !required.has(name)) continue;
    properties.push({ name, value: schemas.node(places), isRequired: required.has(name) });
  }
  const min = Math.ceil(highest(parts, "minProperties", 0));
  const max = lowest(parts, "maxProperties");
  const needed = min <= required.size ? 0 : min;
  // Where the listed members are too few, others have to be written.
  const isListed = !schemas.unlistedMembers && listsMembers(parts) && min <= properties.length;
  const others = otherNames({ members, schemas, patterns, names, allowedName, isListed });
  if (needed > 1 && others.length > 0) {
    const part = parts.find(({ keywords }) => keywords["minProperties"] !== undefined);
    throw constraintRefusal(
      "members with names that are not listed are not told apart, so that they cannot be counted",
      "list the names, or require them",
      getPlace(part, "minProperties"),
    );
  }
  if (max < 0) return choiceNode();
  return objectNode({ properties, others, min: needed, max: Math.floor(max) });
}

/** Whether schemas list the members of an object, and do not say what others may be. */
function listsMembers(parts: readonly SchemaPart[]): boolean {
  return (
    parts.some((part) => part.keywords["properties"] !== undefined && !isOnlyForbidding(getMap(part, "properties"))) &&
    parts.every(({ keywords }) => keywords["additionalProperties"] === undefined)
  );
}

/** Whether properties are only forbidden, which lists none. */
function isOnlyForbidding(properties: Readonly<Record<string, unknown>>): boolean {
  const values = Object.values(properties);
  return values.length > 0 && values.every((schema) => schema === false);
}

/** The schemas that several schemas have for the members of an object. */
class MemberSchemas {
  readonly #schemas: SchemaContext;
  /** By name: the schemas that list it. */
  readonly #listing = new Map<string, SchemaPart[]>();
  /** Schemas that say something of names that they do not list. */
  readonly #general: readonly SchemaPart[];

  constructor(parts: readonly SchemaPart[], schemas: SchemaContext) {
    this.#schemas = schemas;
    for (const part of parts) {
      const names = getKeys(getMap(part, "properties"));
      chargeSteps(10 * names.length);
      chargeStates(0, 150 * names.length);
      for (const name of names) addToList(this.#listing, name, part);
    }
    this.#general = parts.filter(
      ({ keywords }) => keywords["additionalProperties"] !== undefined || keywords["patternProperties"] !== undefined,
    );
  }

  /** The listed names. */
  get names(): Iterable<string> {
    return this.#listing.keys();
  }

  /** The schemas of the member of a name; undefined: of one that is not listed. `matching`: the patterns that the name matches. */
  of(name: string | undefined, matching: readonly Pattern[]): readonly SchemaPlace[] {
    const { document } = this.#schemas;
    const listing = name === undefined ? [] : (this.#listing.get(name) ?? []);
    const own = listing.map((part) => document.below(part, getMap(part, "properties")[name ?? ""], "properties", name ?? ""));
    chargeSteps(5 * this.#general.length);
    const general = this.#general.flatMap((part) => this.#generalPlaces(part, listing.includes(part), matching));
    return [...own, ...general];
  }

  #generalPlaces(part: SchemaPart, isListed: boolean, matching: readonly Pattern[]): readonly SchemaPlace[] {
    const { document } = this.#schemas;
    const byPattern = getMap(part, "patternProperties");
    const matched = matching
      .filter(({ source }) => Object.hasOwn(byPattern, source))
      .map(({ source }) => document.below(part, byPattern[source], "patternProperties", source));
    if (isListed || matched.length > 0) return matched;
    const additional = part.keywords["additionalProperties"];
    return additional === undefined ? [] : [document.below(part, additional, "additionalProperties")];
  }
}

function getPatterns(parts: readonly SchemaPart[], strings: StringContext): readonly Pattern[] {
  const found = new Map<string, Pattern>();
  for (const part of parts) {
    for (const source of Object.keys(getMap(part, "patternProperties"))) {
      if (!found.has(source)) found.set(source, { source, dfa: strings.pattern(part, "patternProperties", source) });
    }
    if (found.size > maxPatterns) {
      throw constraintRefusal(`has more than ${maxPatterns} expressions`, "list the names", getPlace(part, "patternProperties"));
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
    throw constraintRefusal(
      "only keywords of strings are supported there",
      "write it without choices",
      getPlace(places[0]?.part, "propertyNames"),
    );
  }
  const words = lists.map((list) => wordsDfa(list.filter((word) => typeof word === "string")));
  return intersection(strings.stringDfa(flat.parts), ...words);
}

interface OtherNames {
  readonly members: MemberSchemas;
  readonly schemas: SchemaContext;
  readonly patterns: readonly Pattern[];
  /** Names that have a property of their own. */
  readonly names: ReadonlySet<string>;
  readonly allowedName: Dfa | undefined;
  /** Whether only names that match a pattern are written. */
  readonly isListed: boolean;
}

/** Members with other names: one for each set of patterns that a name may match. */
function otherNames({ members, schemas, patterns, names, allowedName, isListed }: OtherNames): readonly OtherMember[] {
  return Array.from({ length: 2 ** patterns.length }, (_, subset) => {
    const matching = patterns.filter((_pattern, index) => ((subset >> index) & 1) === 1);
    const places = members.of(undefined, matching);
    if (places.includes(false) || (isListed && matching.length === 0)) return [];
    if (patterns.length === 0 && allowedName === undefined) {
      const name = names.size === 0 ? new FreeText() : new OtherWords(WordTrie.of([...names]));
      return [{ name: textNode(new JsonString(name)), value: schemas.node(places) }];
    }
    const matched = intersection(allowedName ?? everyText, ...matching.map(({ dfa }) => dfa));
    const others = patterns.filter((pattern) => !matching.includes(pattern)).map(({ dfa }) => dfa);
    const dfa = [...others, ...(names.size === 0 ? [] : [wordsDfa([...names])])].reduce(difference, matched);
    return dfa.isEmpty ? [] : [{ name: textNode(new JsonString(dfa)), value: schemas.node(places) }];
  }).flat();
}
