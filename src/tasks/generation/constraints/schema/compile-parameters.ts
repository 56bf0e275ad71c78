/** Objects whose members are written between tags, as text, instead of as JSON. */
import { intersection } from "../automata/automaton.ts";
import { DelimitedText, textsWithout } from "../automata/delimited-text.ts";
import { regularExpressionDfa } from "../automata/regular-expression.ts";
import { chargeSteps } from "../constraint-budget.ts";
import {
  type GrammarNode,
  choiceNode,
  choiceOf,
  literalNode,
  repeat,
  sequenceNode,
  sequenceOf,
  textNode,
} from "../grammar/grammar.ts";
import { constraintRefusal } from "../refusal.ts";
import { listedValues, stringKeywords } from "./compile-values.ts";
import { getMap, requiredNames, getTypes } from "./keywords.ts";
import type { SchemaContext, StringContext } from "./schema-context.ts";
import type { SchemaPart, SchemaPlace } from "./schema-document.ts";

/** Tags around the members of an object. */
export interface ParameterTags {
  /** Before a name, and words after it. */
  readonly key: readonly [before: string, ...after: readonly string[]];
  readonly valueClose: string;
  /** Whether a line end precedes and follows each value. */
  readonly hasLines: boolean;
}

/** White space between tags: a line end at most. */
const gap = String.raw`[ \t]{0,2}\n?`;
/** Names of members that no schema lists. */
const otherName = String.raw`[A-Za-z_][A-Za-z0-9_.-]{0,63}`;
/** Keywords of objects that are not followed here. */
const refusedKeywords = ["patternProperties", "propertyNames", "minProperties", "maxProperties", "enum", "const"];

/** Compiles schemas of objects to members between tags, in the order of the schema. */
export class ParameterCompiler {
  readonly #schemas: SchemaContext;
  readonly #strings: StringContext;
  readonly #tags: ParameterTags;
  readonly #gap: GrammarNode;
  readonly #line: string;

  constructor(schemas: SchemaContext, strings: StringContext, tags: ParameterTags) {
    this.#schemas = schemas;
    this.#strings = strings;
    this.#tags = tags;
    this.#gap = textNode(regularExpressionDfa(gap, { whole: true }));
    this.#line = tags.hasLines ? "\n" : "";
  }

  /** The members of the objects for which all schemas are valid, each with white space after it. */
  node(places: readonly SchemaPlace[]): GrammarNode {
    return this.#compile(places, (parts) => this.#members(parts));
  }

  #compile(places: readonly SchemaPlace[], compile: (parts: readonly SchemaPart[]) => GrammarNode): GrammarNode {
    const flat = this.#schemas.flatten(places);
    if (flat === undefined) return choiceNode();
    const { parts, options } = flat;
    if (options === undefined) return compile(parts);
    chargeSteps(40 * options.length * (parts.length + 1));
    return choiceOf(options.map((option) => this.#compile([...parts, ...option], compile)));
  }

  #members(parts: readonly SchemaPart[]): GrammarNode {
    if (!getTypes(parts).includes("object")) return choiceNode();
    for (const { keywords, pointer } of parts) {
      const keyword = refusedKeywords.find((each) => keywords[each] !== undefined);
      if (keyword !== undefined)
        throw constraintRefusal(
          "the model writes arguments between tags, and this is not followed there",
          "leave it out, or leave the call to the model",
          { keyword, pointer },
        );
    }
    const required = requiredNames(parts);
    const listed = new Set(parts.flatMap((part) => Object.keys(getMap(part, "properties"))));
    const members: GrammarNode[] = [];
    for (const name of new Set([...listed, ...required])) {
      chargeSteps(10 + name.length);
      const places = parts.flatMap((part) => this.#getPlaces(part, name));
      if (!places.includes(false)) members.push(repeat(this.#member(literalNode(name), places), required.has(name) ? 1 : 0, 1));
      else if (required.has(name)) return choiceNode();
    }
    const others = parts.flatMap((part) => this.#getPlaces(part, undefined));
    const areOpen = this.#schemas.unlistedMembers || parts.every(({ keywords }) => keywords["properties"] === undefined);
    if (listed.size === 0 && areOpen && !others.includes(false)) {
      const name = textNode(regularExpressionDfa(otherName, { whole: true }));
      members.push(repeat(this.#member(name, others), 0, Number.POSITIVE_INFINITY));
    }
    return sequenceOf(members);
  }

  /** The schemas of a member; `name` undefined: of one that is not listed. */
  #getPlaces(part: SchemaPart, name: string | undefined): readonly SchemaPlace[] {
    const { document } = this.#schemas;
    const properties = getMap(part, "properties");
    if (name !== undefined && Object.hasOwn(properties, name))
      return [document.below(part, properties[name], "properties", name)];
    const additional = part.keywords["additionalProperties"];
    return additional === undefined ? [] : [document.below(part, additional, "additionalProperties")];
  }

  #member(name: GrammarNode, places: readonly SchemaPlace[]): GrammarNode {
    const [before, first = "", ...others] = this.#tags.key;
    const words = others.flatMap((word) => [this.#gap, literalNode(word)]);
    const value = this.#compile(places, (parts) => this.#value(parts));
    return sequenceNode(literalNode(before), name, literalNode(first), ...words, literalNode(this.#line), value, this.#gap);
  }

  /** A value and the tag after it. */
  #value(parts: readonly SchemaPart[]): GrammarNode {
    const types = getTypes(parts);
    const others = types.filter((type) => type !== "string");
    const options: GrammarNode[] = types.includes("string") ? [this.#string(parts)] : [];
    const [first] = parts;
    // A text may be anything that others are written as, unless it is limited.
    if (others.length > 0 && (options.length === 0 || this.#isLimited(parts))) {
      const { pointer = "", base = "", draft } = first ?? {};
      const json = this.#schemas.node([...parts, { keywords: { type: others }, pointer, base, draft }]);
      options.push(sequenceNode(json, literalNode(this.#line + this.#tags.valueClose)));
    }
    return choiceOf(options);
  }

  #isLimited(parts: readonly SchemaPart[]): boolean {
    const keywords = ["enum", "const", ...stringKeywords];
    return parts.some((part) => keywords.some((keyword) => part.keywords[keyword] !== undefined));
  }

  #string(parts: readonly SchemaPart[]): GrammarNode {
    const close = this.#line + this.#tags.valueClose;
    if (!this.#isLimited(parts)) return textNode(new DelimitedText(close));
    const listed = listedValues(parts)?.filter((value) => typeof value === "string");
    const dfa = intersection(this.#strings.stringDfa(parts), textsWithout(this.#tags.valueClose));
    if (listed === undefined) return sequenceNode(textNode(dfa), literalNode(close));
    return choiceOf(listed.filter((value) => dfa.matches(value)).map((value) => literalNode(value + close)));
  }
}
