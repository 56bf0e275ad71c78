/** Values of JSON by type, as grammars. */
import { getOrInsert } from "../../../../contract/checked.ts";
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
import { JsonNumber, getEntries, isJsonObject, jsonText } from "../../../../formats/json/exact-json.ts";
import { CountedText } from "../automata/counted-text.ts";
import { compareDecimals, parseDecimal, isWhole } from "../automata/decimals.ts";
import { JsonString } from "../automata/json-string.ts";
import { WordLiteral, WordTrie } from "../automata/words.ts";
import { type NumberRange, numberDfa } from "../automata/numbers.ts";
import { regularExpressionDfa } from "../automata/regular-expression.ts";
import {
  type GrammarNode,
  choiceNode,
  choiceOf,
  listNode,
  literalNode,
  objectNode,
  repeat,
  sequenceNode,
  textNode,
} from "../grammar/grammar.ts";
import { lineBreak } from "../grammar/json-layout.ts";
import { PushdownMachine } from "../grammar/pushdown-machine.ts";
import { InferyardError } from "../../../../contract/errors.ts";
import { atPlace, chargeSteps } from "../constraint-budget.ts";
import { constraintRefusal } from "../refusal.ts";
import type { SchemaContext, StringContext } from "./schema-context.ts";
import type { SchemaCache } from "./schema-cache.ts";
import { compileObject } from "./compile-objects.ts";
import { formats } from "./formats.ts";
import {
  type JsonType,
  canonical,
  decimalAt,
  highest,
  invalidKeyword,
  getListKeyword,
  lowerLimit,
  lowest,
  getTextKeyword,
  getJsonType,
  getTypes,
  upperBound,
  annotations,
  locations,
} from "./keywords.ts";
import { excludedKeyword } from "./negate-schema.ts";
import { type SchemaPart, type SchemaPlace, getPlace } from "./schema-document.ts";

/** After an item of a list that another follows. */
const itemEnd = sequenceNode(literalNode(","), lineBreak);

/** Keywords that the values of `enum` and `const` obey without a check. */
const quick: ReadonlySet<string> = new Set([...annotations, ...locations, "type", "enum", "const"]);

/** Keywords that constrain strings. */
export const stringKeywords: readonly string[] = ["minLength", "maxLength", "pattern", "format", excludedKeyword];

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
    const types = getTypes(parts);
    const listed = listedValues(parts);
    if (listed !== undefined) return this.#listed(listed, types, parts);
    return choiceNode(...types.map((type) => this.#ofType(type, parts)));
  }

  #ofType(type: JsonType, parts: readonly SchemaPart[]): GrammarNode {
    const excluded = parts.flatMap((part) => getListKeyword(part, excludedKeyword));
    switch (type) {
      case "null":
        return excluded.includes(null) ? choiceNode() : literalNode("null");
      case "boolean":
        return choiceNode(
          ...[true, false].filter((value) => !excluded.includes(value)).map((value) => literalNode(String(value))),
        );
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
      const type = getJsonType(value);
      return types.includes(type) || (type === "integer" && types.includes("number"));
    });
    const beside = parts.map((part): SchemaPart => ({ ...part, keywords: withoutKeywords(part.keywords, ["enum", "const"]) }));
    const needsCheck = beside.some(({ keywords }) => Object.keys(keywords).some((keyword) => !quick.has(keyword)));
    const allowed = needsCheck ? ofType.filter(acceptedBy(this.#whole(beside))) : ofType;
    const strings = allowed.filter((value) => typeof value === "string");
    return choiceOf([
      ...(strings.length === 0 ? [] : [textNode(new JsonString(WordTrie.of(strings)))]),
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
    if (typeof value === "string") return textNode(new JsonString(new WordLiteral(value)));
    if (Array.isArray(value)) {
      const items = value.flatMap((item, index) => [...(index > 0 ? [itemEnd] : []), this.#constant(item)]);
      return listNode(value.length === 0 ? sequenceNode() : sequenceNode(lineBreak, ...items, lineBreak));
    }
    if (!isJsonObject(value)) return literalNode(jsonText(value));
    const properties = getEntries(value).map(([name, member]) => ({ name, value: this.#constant(member), isRequired: true }));
    return objectNode({ properties, others: [], min: 0, max: Number.POSITIVE_INFINITY });
  }

  #number(isInteger: boolean, parts: readonly SchemaPart[]): GrammarNode {
    // In draft 4 exclusiveMinimum and exclusiveMaximum say whether the bound itself is excluded.
    const strictly = (keyword: string, bound: string): readonly SchemaPart[] =>
      parts.map((part) => (part.keywords[keyword] === true ? { ...part, keywords: { [keyword]: part.keywords[bound] } } : part));
    const lower = lowerLimit(parts, "minimum");
    const above = lowerLimit(strictly("exclusiveMinimum", "minimum"), "exclusiveMinimum");
    const upper = upperBound(parts, "maximum");
    const below = upperBound(strictly("exclusiveMaximum", "maximum"), "exclusiveMaximum");
    const multipleOf = parts.flatMap((part) => decimalAt(part, "multipleOf") ?? []);
    for (const part of parts) {
      const factor = decimalAt(part, "multipleOf");
      if (factor !== undefined && compareDecimals(factor, "0") <= 0)
        throw invalidKeyword(part, "multipleOf", `is ${factor}, and must be above 0`);
    }
    const bounds = ["multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    const minimum = lower !== undefined && (above === undefined || compareDecimals(lower, above) > 0);
    const maximum = upper !== undefined && (below === undefined || compareDecimals(upper, below) < 0);
    return naming(parts, bounds, () =>
      this.#numbersIn({
        isInteger: isInteger || multipleOf.some(isWhole),
        ...(minimum ? { minimum: lower } : above === undefined ? {} : { exclusiveMinimum: above }),
        ...(maximum ? { maximum: upper } : below === undefined ? {} : { exclusiveMaximum: below }),
        multipleOf: [...new Set(multipleOf.filter((factor) => factor !== "1"))],
      }),
    );
  }

  #numbersIn(range: NumberRange): GrammarNode {
    const key = JSON.stringify(range);
    return getOrInsert(this.#cache.numbers, key, () => textNode(numberDfa(range)));
  }

  #string(parts: readonly SchemaPart[]): GrammarNode {
    const key = jsonText(parts.map(({ keywords }) => stringKeywords.map((keyword) => keywords[keyword])));
    chargeSteps(key.length);
    return getOrInsert(this.#cache.strings, key, () => textNode(new JsonString(this.stringContent(parts))));
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
    const excluded = parts.flatMap((part) => getListKeyword(part, excludedKeyword)).filter((value) => typeof value === "string");
    return [
      ...parts.flatMap((part) => {
        const pattern = getTextKeyword(part, "pattern");
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
    return getOrInsert(this.#cache.expressions, key, () => regularExpressionDfa(source, { whole }));
  }

  #array(parts: readonly SchemaPart[]): GrammarNode {
    const min = Math.ceil(highest(parts, "minItems", 0));
    const max = Math.floor(lowest(parts, "maxItems"));
    if (min > max || max < 0) return choiceNode();
    const first = Math.max(0, ...parts.map((part) => leadingItems(part).length));
    const item = (index: number): GrammarNode => this.#schemas.node(parts.map((part) => this.#itemPlace(part, index)));
    if (max === 0) return listNode(sequenceNode());
    const separated = (index: number): GrammarNode => sequenceNode(itemEnd, item(index));
    // The first item, and those that have schemas of their own, each need the ones before it.
    const alone = Math.max(1, Math.min(first, max));
    let tail = alone >= max ? sequenceNode() : repeat(separated(alone), Math.max(min - alone, 0), max - alone);
    for (let index = alone - 1; index > 0; index -= 1)
      tail = repeat(sequenceNode(separated(index), tail), index < min ? 1 : 0, 1);
    return listNode(repeat(sequenceNode(lineBreak, item(0), tail, lineBreak), min > 0 ? 1 : 0, 1));
  }

  #itemPlace(part: SchemaPart, index: number): SchemaPlace {
    const { keywords } = part;
    const leading = leadingItems(part);
    const keyword = Array.isArray(keywords["prefixItems"]) ? "prefixItems" : "items";
    if (index < leading.length) return this.#schemas.document.below(part, leading[index], keyword, index);
    const rest = Array.isArray(keywords["items"]) && part.draft !== 2020 ? "additionalItems" : "items";
    return this.#schemas.document.below(part, keywords[rest] ?? true, rest);
  }
}

function leadingItems({ keywords, draft }: SchemaPart): readonly unknown[] {
  if (Array.isArray(keywords["prefixItems"])) return keywords["prefixItems"];
  return draft !== 2020 && Array.isArray(keywords["items"]) ? keywords["items"] : [];
}

function refuseExcluded(parts: readonly SchemaPart[], excluded: readonly unknown[], types: readonly JsonType[]): void {
  if (!excluded.some((value) => types.includes(getJsonType(value)))) return;
  const part = parts.find(({ keywords }) => keywords[excludedKeyword] !== undefined);
  throw constraintRefusal("numbers, lists and objects cannot be excluded", "write the schema without it", getPlace(part, "not"));
}

/** The values that all `enum` and `const` list; undefined if there is none of these keywords. */
export function listedValues(parts: readonly SchemaPart[]): readonly unknown[] | undefined {
  const lists = parts.flatMap((part) => [
    ...("const" in part.keywords ? [[part.keywords["const"]]] : []),
    ...(part.keywords["enum"] === undefined ? [] : [getListKeyword(part, "enum")]),
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
    for (const byte of new TextEncoder().encode(jsonText(plainNumbers(value))))
      state = state === undefined ? undefined : machine.step(state, byte);
    return state?.accepts === true;
  };
}

/** A value whose numbers are written without a fraction of zeros or an exponent, as grammars of integers have them. */
function plainNumbers(value: unknown): unknown {
  if (value instanceof JsonNumber) return new JsonNumber(parseDecimal(value.text));
  if (Array.isArray(value)) return value.map(plainNumbers);
  return isJsonObject(value) ? Object.fromEntries(getEntries(value).map(([name, each]) => [name, plainNumbers(each)])) : value;
}

/** What `compile` returns. What it refuses is said of the first of these keywords that a schema has. */
function naming<Result>(parts: readonly SchemaPart[], keywords: readonly string[], compile: () => Result): Result {
  const [found] = keywords.flatMap((keyword) =>
    parts.flatMap((part) => (part.keywords[keyword] === undefined ? [] : [getPlace(part, keyword)])),
  );
  if (found === undefined) return compile();
  try {
    return atPlace(found, compile);
  } catch (error) {
    const isUnplaced = error instanceof InferyardError && error.data["unit"] === undefined;
    throw isUnplaced ? constraintRefusal(error.message.replace(/^the constraint: /, ""), "simplify it", found) : error;
  }
}
