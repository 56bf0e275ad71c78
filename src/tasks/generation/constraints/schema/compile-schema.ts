/** JSON Schema 2020-12 (and what earlier drafts write differently) as a grammar. */
import { getOrInsert } from "../../../../contract/checked.ts";
import { atPlace, chargeSteps } from "../constraint-budget.ts";
import type { GrammarNode, GrammarRule } from "../grammar/grammar.ts";
import { choiceNode, choiceOf, rule } from "../grammar/grammar.ts";
import { constraintRefusal } from "../refusal.ts";
import { getListKeyword, getMap, refuseUnsupported, getTextKeyword } from "./keywords.ts";
import { negateSchema } from "./negate-schema.ts";
import { overlappingSchemas } from "./overlapping-schemas.ts";
import type { FlatSchema, SchemaContext } from "./schema-context.ts";
import { SchemaCache } from "./schema-cache.ts";
import { SchemaDocument, type SchemaPart, type SchemaPlace, ignoresBesideRef, getPlace } from "./schema-document.ts";
import { ParameterCompiler, type ParameterTags } from "./compile-parameters.ts";
import { ValueCompiler } from "./compile-values.ts";

/** Settings of compiling schemas. */
export interface SchemaSettings {
  /**
   * Whether objects with listed members (`properties`) may have further ones where the schema is silent, which JSON Schema allows. Models then write members
   * that were not requested. Default: false.
   */
  readonly unlistedMembers?: boolean;
}

/**
 * Compiles a JSON schema to the grammar of the texts whose value is valid, or of such texts without unlisted members. Throws INPUT_INVALID for an invalid
 * schema, and for unsupported constructs.
 */
export function compileSchema(schema: unknown, settings: SchemaSettings = {}): GrammarNode {
  return new SchemasCompiler(settings).compile(schema);
}

/** Compiles several schemas, which share equal parts. */
export class SchemasCompiler {
  readonly #unlistedMembers: boolean;
  readonly #cache = new SchemaCache();

  constructor({ unlistedMembers = false }: SchemaSettings = {}) {
    this.#unlistedMembers = unlistedMembers;
  }

  /** As `compileSchema`. */
  compile(schema: unknown): GrammarNode {
    return new SchemaCompiler(new SchemaDocument(schema), this.#unlistedMembers, this.#cache).root();
  }

  /** The members of the valid objects, between tags instead of as JSON. */
  compileParameters(schema: unknown, tags: ParameterTags): GrammarNode {
    return new SchemaCompiler(new SchemaDocument(schema), this.#unlistedMembers, this.#cache).parameters(tags);
  }
}

/** Any value of JSON, or any object. */
export function anyJson(type?: "object"): GrammarNode {
  return compileSchema(type === undefined ? {} : { type });
}

/** A choice that a schema offers. */
interface Options {
  /** The keywords that say it. */
  readonly keywords: readonly string[];
  readonly options: readonly (readonly SchemaPlace[])[];
}

/** Compiles lists of schemas that must all be valid. Equal lists are one rule. */
class SchemaCompiler implements SchemaContext {
  readonly document: SchemaDocument;
  readonly unlistedMembers: boolean;
  #letter: SchemaCompiler | undefined;
  readonly #values: ValueCompiler;
  readonly #cache: SchemaCache;
  readonly #reduced = new Map<object, Map<string, SchemaPart>>();
  readonly #options = new Map<object, Options | undefined>();
  /** Rules that are not compiled yet. */
  readonly #open: { readonly rule: GrammarRule; readonly parts: readonly SchemaPart[] }[] = [];
  readonly #negated = new Map<object, readonly SchemaPlace[] | undefined>();

  constructor(document: SchemaDocument, unlistedMembers: boolean, cache: SchemaCache) {
    this.document = document;
    this.unlistedMembers = unlistedMembers;
    this.#cache = cache;
    this.#values = new ValueCompiler(this, cache);
  }

  get letter(): SchemaContext {
    if (this.unlistedMembers) return this;
    this.#letter ??= new SchemaCompiler(this.document, true, new SchemaCache());
    return this.#letter;
  }

  /** The grammar of valid values. */
  root(): GrammarNode {
    const root = this.node([this.document.root]);
    this.compileOpen();
    return root;
  }

  parameters(tags: ParameterTags): GrammarNode {
    const node = new ParameterCompiler(this, this.#values, tags).node([this.document.root]);
    this.compileOpen();
    return node;
  }

  compileOpen(): void {
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) {
      const { rule: open, parts } = next;
      open.body = atPlace({ pointer: open.name }, () => this.#compile(parts));
    }
  }

  /** The grammar of values for which all schemas are valid; its rules are compiled later. */
  node(places: readonly SchemaPlace[]): GrammarNode {
    if (places.includes(false)) return choiceNode();
    const parts = places.filter((place) => place !== false && !isEmpty(place.keywords)) as readonly SchemaPart[];
    const { identities, rules } = this.#cache;
    const numbers = new Set(parts.map((part) => identities.of(part, this.document)));
    const key = [...numbers].toSorted((left, right) => left - right).join(" ");
    const known = rules.get(key);
    if (known !== undefined) return known;
    chargeSteps(40 + 20 * parts.length + parts.length ** 2);
    const added = rule(parts[0]?.negatedBy?.pointer ?? parts[0]?.pointer ?? "");
    rules.set(key, added);
    this.#open.push({ rule: added, parts });
    return added;
  }

  #compile(parts: readonly SchemaPart[]): GrammarNode {
    const flat = this.flatten(parts);
    if (flat === undefined) return choiceNode();
    if (flat.options === undefined) return this.#values.node(flat.parts);
    const { parts: beside, options } = flat;
    chargeSteps(options.length * (beside.length + 1));
    return choiceOf(options.map((option) => this.node([...beside, ...option])));
  }

  /** Follows references and `allOf`; undefined if no value is valid. */
  flatten(places: readonly SchemaPlace[]): FlatSchema | undefined {
    const open = [...places].toReversed();
    const seen = new Set<object>();
    const all = new Set<SchemaPart>();
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (place === false) return undefined;
      if (seen.has(place.keywords)) continue;
      chargeSteps(30);
      seen.add(place.keywords);
      const { keywords } = place;
      const reference = getTextKeyword(place, "$ref");
      if (reference !== undefined) open.push(this.document.resolve(reference, place));
      if (reference !== undefined && ignoresBesideRef(place.draft)) continue;
      refuseUnsupported(place);
      for (const [index, schema] of getListKeyword(place, "allOf").entries())
        open.push(this.document.below(place, schema, "allOf", index));
      const own = this.#without(
        place,
        ["$ref", "allOf"].filter((keyword) => keywords[keyword] !== undefined),
      );
      all.add(own);
    }
    const parts = [...all];
    for (const [index, part] of parts.entries()) {
      const found = this.#getOptions(part);
      if (found === undefined) continue;
      const rest = [...parts.slice(0, index), this.#without(part, found.keywords), ...parts.slice(index + 1)];
      return { parts: rest, options: found.options };
    }
    return { parts, options: undefined };
  }

  #getOptions(part: SchemaPart): Options | undefined {
    const known = this.#options.get(part.keywords);
    if (known !== undefined || this.#options.has(part.keywords)) return known;
    const options = this.#findOptions(part);
    this.#options.set(part.keywords, options);
    return options;
  }

  #findOptions(part: SchemaPart): Options | undefined {
    const { keywords } = part;
    if (keywords["anyOf"] !== undefined) {
      return {
        keywords: ["anyOf"],
        options: getListKeyword(part, "anyOf").map((schema, index) => [this.document.below(part, schema, "anyOf", index)]),
      };
    }
    if (keywords["oneOf"] !== undefined) return { keywords: ["oneOf"], options: this.#oneOf(part) };
    if (keywords["not"] !== undefined)
      return { keywords: ["not"], options: this.#negation(part, keywords["not"], "not").map((place) => [place]) };
    if (keywords["if"] !== undefined) return { keywords: ["if", "then", "else"], options: this.#conditional(part) };
    for (const keyword of ["dependentRequired", "dependentSchemas", "dependencies"]) {
      const [name] = Object.keys(getMap(part, keyword));
      if (name !== undefined) return this.#dependency(part, keyword, name);
    }
    return undefined;
  }

  #oneOf(part: SchemaPart): readonly (readonly SchemaPlace[])[] {
    const schemas = getListKeyword(part, "oneOf");
    const places = schemas.map((schema, index) => this.document.below(part, schema, "oneOf", index));
    const beside = this.#without(part, ["oneOf"]);
    const overlapping = overlappingSchemas(
      { schemas: this, strings: this.#values },
      places.map((place) => [place, beside]),
    );
    const negated = new Map<number, SchemaPlace>();
    const negation = (index: number): SchemaPlace => {
      const anyOf = this.#negation(part, schemas[index], "oneOf").map((each) => (each === false ? false : each.keywords));
      return this.document.place({ anyOf }, { ...part, negatedBy: getPlace(part, "oneOf") });
    };
    return places.map((place, index) => [
      place,
      ...(overlapping[index] ?? []).map((other) => getOrInsert(negated, other, () => negation(other))),
    ]);
  }

  #conditional(part: SchemaPart): readonly (readonly SchemaPlace[])[] {
    const { keywords } = part;
    const branch = (keyword: string): readonly SchemaPlace[] =>
      keywords[keyword] === undefined ? [] : [this.document.below(part, keywords[keyword], keyword)];
    if (keywords["then"] === undefined && keywords["else"] === undefined) return [[]];
    return [
      [...branch("if"), ...branch("then")],
      ...this.#negation(part, keywords["if"], "if").map((place) => [place, ...branch("else")]),
    ];
  }

  #dependency(part: SchemaPart, keyword: string, name: string): Options {
    chargeSteps(20 * Object.keys(getMap(part, keyword)).length);
    const { [name]: needed, ...others } = getMap(part, keyword);
    const beside = this.#derive(part, [keyword, name], { ...part.keywords, [keyword]: others });
    const needs = Array.isArray(needed) || typeof needed === "string" ? { required: [name, ...[needed].flat()] } : undefined;
    const present: readonly SchemaPlace[] =
      needs === undefined
        ? [this.#derive(part, [name, "is required"], { required: [name] }), this.document.below(part, needed, keyword, name)]
        : [this.#derive(part, [keyword, name, "needs"], needs)];
    return {
      keywords: Object.keys(part.keywords),
      options: [
        [beside, this.#derive(part, [name, "is absent"], { properties: { [name]: false } })],
        [beside, ...present],
      ],
    };
  }

  /** Schemas one of which is valid where `schema` is not. */
  #negation(part: SchemaPart, schema: unknown, keyword: string): readonly SchemaPlace[] {
    const key = typeof schema === "object" && schema !== null ? schema : undefined;
    const known = key === undefined ? undefined : this.#negated.get(key);
    if (known !== undefined) return known;
    const negated = negateSchema(schema, part.draft);
    if (negated === undefined) {
      const why = keyword === "oneOf" ? "its schemas are not known to exclude each other" : "what it negates is not supported";
      const remedy =
        keyword === "oneOf" ? "use anyOf, or give each a property with a const of its own" : "write it without this keyword";
      throw constraintRefusal(why, remedy, getPlace(part, keyword));
    }
    const places = negated.map((each) => this.document.place(each, { ...part, negatedBy: getPlace(part, keyword) }));
    if (key !== undefined) this.#negated.set(key, places);
    return places;
  }

  /** The schema without some keywords; always the same one. */
  #without(part: SchemaPart, removed: readonly string[]): SchemaPart {
    if (removed.length === 0) return part;
    chargeSteps(Object.keys(part.keywords).length);
    return this.#derive(
      part,
      ["without", ...removed],
      Object.fromEntries(Object.entries(part.keywords).filter(([keyword]) => !removed.includes(keyword))),
    );
  }

  #derive(part: SchemaPart, how: readonly string[], keywords: Readonly<Record<string, unknown>>): SchemaPart {
    const key = JSON.stringify(how);
    const own = getOrInsert(this.#reduced, part.keywords, () => new Map<string, SchemaPart>());
    return getOrInsert(own, key, () => ({ ...part, keywords }));
  }
}

function isEmpty(keywords: object): boolean {
  for (const _keyword in keywords) return false;
  return true;
}
