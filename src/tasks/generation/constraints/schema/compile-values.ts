/** Values of JSON by type, as grammars. */
import {
  type Automaton,
  type Dfa,
  FreeText,
  difference,
  everyText,
  intersection,
  lengthDfa,
  wordsDfa,
} from "../automata/automaton.ts";
import { CountedText } from "../automata/counted-text.ts";
import { JsonString } from "../automata/json-string.ts";
import { Literal, WordTrie } from "../automata/words.ts";
import { type NumberRange, numberDfa } from "../automata/numbers.ts";
import { regularExpressionDfa } from "../automata/regular-expression.ts";
import { type GrammarNode, choice, choiceOf, literal, object, repeat, sequence, text } from "../grammar/grammar.ts";
import { PushdownMachine } from "../grammar/pushdown-machine.ts";
import { InferyardError } from "../../../../contract/errors.ts";
import { atPlace, chargeSteps } from "../constraint-budget.ts";
import { refusal } from "../refusal.ts";
import type { SchemaContext, StringContext } from "./schema-context.ts";
import type { SchemaCache } from "./schema-cache.ts";
import { compileObject } from "./compile-objects.ts";
import { formats } from "./formats.ts";
import {
  type JsonType,
  canonical,
  highest,
  invalidKeyword,
  listOf,
  lowest,
  numberOf,
  textOf,
  typeOf,
  typesOf,
} from "./keywords.ts";
import { excludedKeyword } from "./negate-schema.ts";
import { type SchemaPart, type SchemaPlace, isObject, placeOf } from "./schema-document.ts";
import { whitespace } from "./whitespace.ts";

const quick: ReadonlySet<string> = new Set([
  "type",
  "title",
  "description",
  "default",
  "enum",
  "const",
  "examples",
  "$schema",
  "$id",
  "id",
  "$defs",
  "definitions",
]);

/** Keywords that say what a string is. */
const stringKeywords = ["minLength", "maxLength", "pattern", "format", excludedKeyword];

/** Compiles schemas without references and choices. */
export class ValueCompiler implements StringContext {
  readonly #schemas: SchemaContext;
  readonly #cache: SchemaCache;

  constructor(schemas: SchemaContext, cache: SchemaCache) {
    this.#schemas = schemas;
    this.#cache = cache;
  }

  /** The grammar of the values for which all schemas are valid. */
  node(parts: readonly SchemaPart[]): GrammarNode {
    chargeSteps(40 * parts.length);
    const types = typesOf(parts);
    const listed = listedValues(parts);
    if (listed !== undefined) return this.#listed(listed, types, parts);
    return choice(...types.map((type) => this.#ofType(type, parts)));
  }

  #ofType(type: JsonType, parts: readonly SchemaPart[]): GrammarNode {
    const excluded = parts.flatMap((part) => listOf(part, excludedKeyword));
    switch (type) {
      case "null":
        return excluded.includes(null) ? choice() : literal("null");
      case "boolean":
        return choice(...[true, false].filter((value) => !excluded.includes(value)).map((value) => literal(String(value))));
      case "integer":
      case "number":
        refuseExcluded(parts, excluded, ["integer", "number"]);
        return this.#number(type === "integer", parts);
      case "string":
        return this.#string(parts);
      case "array":
        refuseExcluded(parts, excluded, ["array"]);
        return this.#array(parts);
      case "object":
        refuseExcluded(parts, excluded, ["object"]);
        return compileObject(parts, this.#schemas, this);
      default:
        return type satisfies never;
    }
  }

  /** Values of `enum` and `const` that the other keywords allow. */
  #listed(values: readonly unknown[], types: readonly JsonType[], parts: readonly SchemaPart[]): GrammarNode {
    const ofType = values.filter((value) => {
      const type = typeOf(value);
      return types.includes(type) || (type === "integer" && types.includes("number"));
    });
    const beside = parts.map((part): SchemaPart => ({ ...part, keywords: withoutKeywords(part.keywords, ["enum", "const"]) }));
    const needsCheck = beside.some(({ keywords }) => Object.keys(keywords).some((keyword) => !quick.has(keyword)));
    const allowed = needsCheck ? ofType.filter(acceptedBy(this.#whole(beside))) : ofType;
    const strings = allowed.filter((value) => typeof value === "string");
    return choiceOf([
      ...(strings.length === 0 ? [] : [text(new JsonString(WordTrie.of(strings)))]),
      ...allowed.filter((value) => typeof value !== "string").map((value) => this.#constant(value)),
    ]);
  }

  /** The grammar of all valid values; its rules are all compiled. */
  #whole(parts: readonly SchemaPart[]): GrammarNode {
    const { letter } = this.#schemas;
    const node = letter.node(parts);
    letter.compileOpen();
    return node;
  }

  #constant(value: unknown): GrammarNode {
    if (typeof value === "string") return text(new JsonString(new Literal(value)));
    const separator = sequence(whitespace, literal(","), whitespace);
    if (Array.isArray(value)) {
      const items = value.flatMap((item, index) => [...(index > 0 ? [separator] : [whitespace]), this.#constant(item)]);
      return sequence(literal("["), ...items, whitespace, literal("]"));
    }
    if (!isObject(value)) return literal(JSON.stringify(value));
    const properties = Object.entries(value).map(([name, member]) => ({ name, value: this.#constant(member), isRequired: true }));
    return object({ properties, others: [], min: 0, max: Number.POSITIVE_INFINITY, space: whitespace });
  }

  #number(isInteger: boolean, parts: readonly SchemaPart[]): GrammarNode {
    const lower = highest(parts, "minimum", Number.NEGATIVE_INFINITY);
    const upper = lowest(parts, "maximum");
    // In draft 4 exclusiveMinimum and exclusiveMaximum say whether the bound itself is excluded.
    const strictly = (keyword: string, bound: string): readonly SchemaPart[] =>
      parts.flatMap((part) =>
        part.keywords[keyword] === true ? [{ ...part, keywords: { [keyword]: numberOf(part, bound) } }] : [part],
      );
    const above = highest(strictly("exclusiveMinimum", "minimum"), "exclusiveMinimum", Number.NEGATIVE_INFINITY);
    const below = lowest(strictly("exclusiveMaximum", "maximum"), "exclusiveMaximum");
    const multipleOf = parts.flatMap((part) => numberOf(part, "multipleOf") ?? []);
    for (const part of parts) {
      const factor = numberOf(part, "multipleOf");
      if (factor !== undefined && !(factor > 0)) throw invalidKeyword(part, "multipleOf", `is ${factor}, and must be above 0`);
    }
    const bounds = ["multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    const isWhole = isInteger || multipleOf.some((factor) => Number.isInteger(factor));
    return naming(parts, bounds, () =>
      this.#numbersIn({
        isInteger: isWhole,
        ...(lower > above && Number.isFinite(lower) ? { minimum: lower } : {}),
        ...(above >= lower && Number.isFinite(above) ? { exclusiveMinimum: above } : {}),
        ...(upper < below && Number.isFinite(upper) ? { maximum: upper } : {}),
        ...(below <= upper && Number.isFinite(below) ? { exclusiveMaximum: below } : {}),
        multipleOf: [...new Set(multipleOf.filter((factor) => factor !== 1))],
      }),
    );
  }

  #numbersIn(range: NumberRange): GrammarNode {
    const key = JSON.stringify(range);
    const node = this.#cache.numbers.get(key) ?? text(numberDfa(range));
    this.#cache.numbers.set(key, node);
    return node;
  }

  #string(parts: readonly SchemaPart[]): GrammarNode {
    const key = JSON.stringify(parts.map(({ keywords }) => stringKeywords.map((keyword) => keywords[keyword])));
    chargeSteps(key.length);
    const node = this.#cache.strings.get(key) ?? text(new JsonString(this.stringContent(parts)));
    this.#cache.strings.set(key, node);
    return node;
  }

  /** The texts of strings for which all schemas are valid. */
  stringContent(parts: readonly SchemaPart[]): Automaton {
    const min = Math.ceil(highest(parts, "minLength", 0));
    const max = Math.floor(lowest(parts, "maxLength"));
    const dfas = this.#contentDfas(parts);
    if (max < 0) return wordsDfa([]);
    if (dfas.length === 0) return new FreeText(min, max);
    const [first = everyText, ...others] = [...dfas, ...(min > 0 ? [lengthDfa(min, Number.POSITIVE_INFINITY)] : [])];
    return naming(parts, ["pattern", "format", "maxLength", "minLength", excludedKeyword], () => {
      const content = intersection(first, ...others);
      return max < Number.POSITIVE_INFINITY ? new CountedText(content, max) : content;
    });
  }

  /** As `stringContent`, as a table. */
  stringDfa(parts: readonly SchemaPart[]): Dfa {
    const min = Math.ceil(highest(parts, "minLength", 0));
    const max = Math.floor(lowest(parts, "maxLength"));
    const length = max < 0 ? wordsDfa([]) : lengthDfa(min, max);
    return naming(parts, ["pattern", "format", "maxLength", "minLength", excludedKeyword], () =>
      intersection(length, ...this.#contentDfas(parts)),
    );
  }

  #contentDfas(parts: readonly SchemaPart[]): readonly Dfa[] {
    const excluded = parts.flatMap((part) => listOf(part, excludedKeyword)).filter((value) => typeof value === "string");
    return [
      ...parts.flatMap((part) => {
        const pattern = textOf(part, "pattern");
        return pattern === undefined ? [] : [this.pattern(part, "pattern", pattern)];
      }),
      ...parts.flatMap(({ keywords }) => {
        const expression = typeof keywords["format"] === "string" ? formats.get(keywords["format"]) : undefined;
        return expression === undefined ? [] : [this.#expression(expression, true)];
      }),
      ...(excluded.length === 0 ? [] : [difference(everyText, wordsDfa(excluded))]),
    ];
  }

  /** The texts in which an expression matches somewhere. */
  pattern(part: SchemaPart, keyword: string, source: string): Dfa {
    return naming([part], [keyword], () => this.#expression(source, false));
  }

  #expression(source: string, whole: boolean): Dfa {
    const key = `${whole} ${source}`;
    const dfa = this.#cache.expressions.get(key) ?? regularExpressionDfa(source, { whole });
    this.#cache.expressions.set(key, dfa);
    return dfa;
  }

  #array(parts: readonly SchemaPart[]): GrammarNode {
    const min = Math.ceil(highest(parts, "minItems", 0));
    const max = Math.floor(lowest(parts, "maxItems"));
    if (min > max || max < 0) return choice();
    const first = Math.max(0, ...parts.map((part) => leadingItems(part).length));
    const item = (index: number): GrammarNode => this.#schemas.node(parts.map((part) => this.#itemPlace(part, index)));
    const comma = sequence(whitespace, literal(","), whitespace);
    const separated = (index: number): GrammarNode => (index === 0 ? item(index) : sequence(comma, item(index)));
    const rest = (from: number): GrammarNode => {
      if (from >= max) return sequence();
      if (from === 0) {
        const others = repeat(separated(first + 1), Math.max(min - 1, 0), max - 1);
        return repeat(sequence(item(0), others), Math.min(min, 1), 1);
      }
      return repeat(separated(Math.max(from, first)), Math.max(min - from, 0), max - from);
    };
    let tail = rest(Math.min(first, max));
    for (let index = Math.min(first, max) - 1; index >= 0; index -= 1) {
      tail = repeat(sequence(separated(index), tail), index < min ? 1 : 0, 1);
    }
    return sequence(literal("["), whitespace, tail, whitespace, literal("]"));
  }

  #itemPlace(part: SchemaPart, index: number): SchemaPlace {
    const { keywords } = part;
    const leading = leadingItems(part);
    const keyword = Array.isArray(keywords["prefixItems"]) ? "prefixItems" : "items";
    if (index < leading.length) return this.#schemas.document.below(part, leading[index], keyword, index);
    const rest = Array.isArray(keywords["items"]) ? "additionalItems" : "items";
    return this.#schemas.document.below(part, keywords[rest] ?? true, rest);
  }
}

function leadingItems({ keywords }: SchemaPart): readonly unknown[] {
  if (Array.isArray(keywords["prefixItems"])) return keywords["prefixItems"];
  return Array.isArray(keywords["items"]) ? keywords["items"] : [];
}

function refuseExcluded(parts: readonly SchemaPart[], excluded: readonly unknown[], types: readonly JsonType[]): void {
  if (!excluded.some((value) => types.includes(typeOf(value)))) return;
  const part = parts.find(({ keywords }) => keywords[excludedKeyword] !== undefined);
  throw refusal("numbers, lists and objects cannot be excluded", "write the schema without it", placeOf(part, "not"));
}

/** The values that all `enum` and `const` list; undefined if there is none of them. */
function listedValues(parts: readonly SchemaPart[]): readonly unknown[] | undefined {
  const lists = parts.flatMap((part) => [
    ...("const" in part.keywords ? [[part.keywords["const"]]] : []),
    ...(part.keywords["enum"] === undefined ? [] : [listOf(part, "enum")]),
  ]);
  const [first, ...others] = lists;
  if (first === undefined) return undefined;
  chargeSteps(10 * lists.reduce((sum, list) => sum + list.length, 0));
  const keys = others.map((list) => new Set(list.map(canonical)));
  const seen = new Set<string>();
  return first.filter((value) => {
    const key = canonical(value);
    if (seen.has(key) || !keys.every((set) => set.has(key))) return false;
    seen.add(key);
    return true;
  });
}

function withoutKeywords(
  keywords: Readonly<Record<string, unknown>>,
  removed: readonly string[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(keywords).filter(([keyword]) => !removed.includes(keyword)));
}

/** Whether the text of a value fits a grammar. */
function acceptedBy(node: GrammarNode): (value: unknown) => boolean {
  const machine = new PushdownMachine(node);
  return (value) => {
    let state: PushdownMachine["start"] | undefined = machine.start;
    for (const byte of new TextEncoder().encode(JSON.stringify(value)))
      state = state === undefined ? undefined : machine.step(state, byte);
    return state?.accepts === true;
  };
}

/** What `compile` returns. What it refuses is said of the first of these keywords that a schema has. */
function naming<Result>(parts: readonly SchemaPart[], keywords: readonly string[], compile: () => Result): Result {
  const [found] = keywords.flatMap((keyword) =>
    parts.flatMap((part) => (part.keywords[keyword] === undefined ? [] : [placeOf(part, keyword)])),
  );
  if (found === undefined) return compile();
  try {
    return atPlace(found, compile);
  } catch (error) {
    const isUnplaced = error instanceof InferyardError && error.data["unit"] === undefined;
    throw isUnplaced ? refusal(error.message.replace(/^the constraint: /, ""), "simplify it", found) : error;
  }
}
