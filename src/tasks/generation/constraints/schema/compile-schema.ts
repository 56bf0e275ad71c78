/** JSON Schema 2020-12 (and what earlier drafts write differently) as a grammar. */
import type { GrammarNode, GrammarRule } from "../grammar/grammar.ts";
import { choice, rule } from "../grammar/grammar.ts";
import { refusal } from "../refusal.ts";
import { alwaysDisjoint } from "./disjoint-schemas.ts";
import { listOf, mapOf, refuseUnsupported, textOf } from "./keywords.ts";
import { negateSchema } from "./negate-schema.ts";
import type { FlatSchema, SchemaContext } from "./schema-context.ts";
import { SchemaDocument, type SchemaPart, type SchemaPlace } from "./schema-document.ts";
import { ValueCompiler } from "./compile-values.ts";

/** Combinations of parts at most; each counts as the square of the number of its parts, which is what compiling it takes. */
const maxWork = 100_000;

/** Compiles a JSON schema to the grammar of the texts whose value is valid. Throws INPUT_INVALID for an invalid schema, and for what is not supported. */
export function compileSchema(schema: unknown): GrammarNode {
  const document = new SchemaDocument(schema);
  return new SchemaCompiler(document).root();
}

/** Any value of JSON, or any object. */
export function anyJson(type?: "object"): GrammarNode {
  return compileSchema(type === undefined ? {} : { type });
}

/** Compiles lists of schemas that must all be valid. Equal lists are one rule. */
class SchemaCompiler implements SchemaContext {
  readonly document: SchemaDocument;
  readonly #values: ValueCompiler = new ValueCompiler(this);
  readonly #rules = new Map<string, GrammarRule>();
  readonly #numbers = new Map<object, number>();
  readonly #reduced = new Map<object, Map<string, SchemaPart>>();
  /** Rules that are not compiled yet. */
  readonly #open: { readonly rule: GrammarRule; readonly parts: readonly SchemaPart[] }[] = [];
  #work = 0;
  readonly #negated = new Map<object, readonly SchemaPlace[] | undefined>();

  constructor(document: SchemaDocument) {
    this.document = document;
  }

  /** The grammar of valid values. */
  root(): GrammarNode {
    const root = this.node([this.document.root]);
    this.compileOpen();
    return root;
  }

  compileOpen(): void {
    for (let next = this.#open.pop(); next !== undefined; next = this.#open.pop()) next.rule.body = this.#compile(next.parts);
  }

  /** The grammar of values for which all schemas are valid; its rules are compiled later. */
  node(places: readonly SchemaPlace[]): GrammarNode {
    if (places.includes(false)) return choice();
    const parts = places.filter((place) => place !== false && Object.keys(place.keywords).length > 0) as readonly SchemaPart[];
    const key = [...new Set(parts.map(({ keywords }) => this.#numberOf(keywords)))]
      .toSorted((left, right) => left - right)
      .join(" ");
    const known = this.#rules.get(key);
    if (known !== undefined) return known;
    this.#work += parts.length ** 2;
    if (this.#work > maxWork) throw refusal("its parts have too many combinations", "simplify it");
    const added = rule(parts[0]?.pointer ?? "");
    this.#rules.set(key, added);
    this.#open.push({ rule: added, parts });
    return added;
  }

  #compile(parts: readonly SchemaPart[]): GrammarNode {
    const flat = this.flatten(parts);
    if (flat === undefined) return choice();
    if (flat.options === undefined) return this.#values.node(flat.parts);
    return choice(...flat.options.map((option) => this.node([...flat.parts, ...option])));
  }

  /** Follows references and `allOf`; undefined if no value is valid. */
  flatten(places: readonly SchemaPlace[]): FlatSchema | undefined {
    const open = [...places].toReversed();
    const seen = new Set<object>();
    const parts: SchemaPart[] = [];
    for (let place = open.pop(); place !== undefined; place = open.pop()) {
      if (place === false) return undefined;
      if (seen.has(place.keywords)) continue;
      seen.add(place.keywords);
      const { keywords } = place;
      const reference = textOf(place, "$ref");
      if (reference !== undefined) open.push(this.document.resolve(reference, place));
      if (reference !== undefined && this.document.ignoresBesideRef) continue;
      refuseUnsupported(place);
      const all = listOf(place, "allOf");
      for (const [index, schema] of all.entries()) open.push(this.document.below(place, schema, "allOf", index));
      const own = this.#without(
        place,
        ["$ref", "allOf"].filter((keyword) => keywords[keyword] !== undefined),
      );
      if (!parts.includes(own)) parts.push(own);
    }
    for (const [index, part] of parts.entries()) {
      const found = this.#optionsOf(part);
      if (found === undefined) continue;
      const rest = [...parts.slice(0, index), this.#without(part, found.keywords), ...parts.slice(index + 1)];
      return { parts: rest, options: found.options };
    }
    return { parts, options: undefined };
  }

  #optionsOf(
    part: SchemaPart,
  ): { readonly keywords: readonly string[]; readonly options: readonly (readonly SchemaPlace[])[] } | undefined {
    const { keywords } = part;
    if (keywords["anyOf"] !== undefined) {
      return {
        keywords: ["anyOf"],
        options: listOf(part, "anyOf").map((schema, index) => [this.document.below(part, schema, "anyOf", index)]),
      };
    }
    if (keywords["oneOf"] !== undefined) return { keywords: ["oneOf"], options: this.#oneOf(part) };
    if (keywords["not"] !== undefined)
      return { keywords: ["not"], options: this.#negation(part, keywords["not"], "not").map((place) => [place]) };
    if (keywords["if"] !== undefined) return { keywords: ["if", "then", "else"], options: this.#conditional(part) };
    for (const keyword of ["dependentRequired", "dependentSchemas", "dependencies"]) {
      const [name] = Object.keys(mapOf(part, keyword));
      if (name !== undefined) return this.#dependency(part, keyword, name);
    }
    return undefined;
  }

  #oneOf(part: SchemaPart): readonly (readonly SchemaPlace[])[] {
    const schemas = listOf(part, "oneOf");
    const places = schemas.map((schema, index) => this.document.below(part, schema, "oneOf", index));
    const beside = this.#without(part, ["oneOf"]);
    return places.map((place, index) => {
      const others = schemas.flatMap((schema, other) => {
        const otherPlace = places[other] ?? false;
        if (other === index || alwaysDisjoint({ schemas: this, strings: this.#values }, [place, beside], [otherPlace, beside]))
          return [];
        const negated = this.#negation(part, schema, "oneOf");
        return [
          this.document.place(
            { anyOf: negated.map((each) => (each === false ? false : each.keywords)) },
            part.pointer,
            part.base,
          ),
        ];
      });
      return [place, ...others];
    });
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

  #dependency(part: SchemaPart, keyword: string, name: string) {
    const { [name]: needed, ...others } = mapOf(part, keyword);
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
    const negated = negateSchema(schema);
    if (negated === undefined) {
      const why = keyword === "oneOf" ? "its schemas are not known to exclude each other" : "what it negates is not supported";
      const remedy =
        keyword === "oneOf" ? "use anyOf, or give each a property with a const of its own" : "write it without this keyword";
      throw refusal(why, remedy, { keyword, pointer: part.pointer });
    }
    const places = negated.map((each) => this.document.place(each, part.pointer, part.base));
    if (key !== undefined) this.#negated.set(key, places);
    return places;
  }

  /** The schema without some keywords; always the same one. */
  #without(part: SchemaPart, removed: readonly string[]): SchemaPart {
    if (removed.length === 0) return part;
    return this.#derive(
      part,
      ["without", ...removed],
      Object.fromEntries(Object.entries(part.keywords).filter(([keyword]) => !removed.includes(keyword))),
    );
  }

  #derive(part: SchemaPart, how: readonly string[], keywords: Readonly<Record<string, unknown>>): SchemaPart {
    const key = JSON.stringify(how);
    const own = this.#reduced.get(part.keywords) ?? new Map<string, SchemaPart>();
    this.#reduced.set(part.keywords, own);
    const derived = own.get(key) ?? { ...part, keywords };
    own.set(key, derived);
    return derived;
  }

  #numberOf(keywords: object): number {
    const known = this.#numbers.get(keywords);
    if (known !== undefined) return known;
    this.#numbers.set(keywords, this.#numbers.size);
    return this.#numbers.size - 1;
  }
}
