/** What schemas that are compiled together share. */
import type { Dfa } from "../automata/automaton.ts";
import type { GrammarNode, GrammarRule } from "../grammar/grammar.ts";
import { annotations, locations } from "./keywords.ts";
import { getOrInsert } from "../../../../contract/checked.ts";
import { getEntries, isJsonObject, jsonText } from "../../../../formats/json/exact-json.ts";
import { chargeStates, chargeSteps } from "../constraint-budget.ts";
import type { SchemaDocument, SchemaPart } from "./schema-document.ts";

/** Parts of grammars, by their source. */
export class SchemaCache {
  readonly identities: SchemaIdentities = new SchemaIdentities();
  /** By the numbers of the schemas that must all be valid. */
  readonly rules: Map<string, GrammarRule> = new Map();
  /** Of numbers, by their bounds, and of strings, by their keywords. */
  readonly numbers: Map<string, GrammarNode> = new Map();
  readonly strings: Map<string, GrammarNode> = new Map();
  /** By regular expression. */
  readonly expressions: Map<string, Dfa> = new Map();
}

/** Keywords that say nothing of values; references lead to what stands in `$defs`. */
const ignored: ReadonlySet<string> = new Set([...annotations, ...locations, "example", "$anchor"]);
/** Keywords whose values are schemas; lists of them; and schemas by name. */
const schemaKeywords: ReadonlySet<string> = new Set([
  "items",
  "additionalItems",
  "additionalProperties",
  "propertyNames",
  "contains",
  "not",
  "if",
  "then",
  "else",
]);
const listKeywords: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems", "items"]);
const mapKeywords: ReadonlySet<string> = new Set(["properties", "patternProperties", "dependentSchemas", "dependencies"]);

/** Depth to which schemas are compared; deeper ones are only equal to themselves. */
const maxDepth = 100;

interface Schema {
  readonly keywords: Readonly<Record<string, unknown>>;
  readonly base: string;
  readonly draft: SchemaPart["draft"];
  readonly document: SchemaDocument;
}

/** Numbers schemas of any number of documents. What a schema lists often stands in a document many times. */
class SchemaIdentities {
  readonly #byText = new Map<string, number>();
  readonly #byObject = new Map<object, number>();
  readonly #documents = new Map<SchemaDocument, number>();
  #count = 0;

  /** The number of a schema. */
  of({ keywords, base, draft }: Omit<SchemaPart, "pointer">, document: SchemaDocument, depth: number = maxDepth): number {
    return getOrInsert(this.#byObject, keywords, () =>
      depth === 0 ? this.#count++ : this.#byContent(this.#getText({ keywords, base, draft, document }, depth)),
    );
  }

  #byContent(text: string): number {
    chargeSteps(10 + Math.ceil(text.length / 4));
    return getOrInsert(this.#byText, text, () => {
      chargeStates(0, 150 + text.length);
      return this.#count++;
    });
  }

  #getText(schema: Schema, depth: number): string {
    let text = schema.draft === undefined ? "" : `${schema.draft} `;
    for (const [keyword, value] of getEntries(schema.keywords)) {
      chargeSteps(5);
      if (ignored.has(keyword) || value === undefined) continue;
      text += `${JSON.stringify(keyword)}:${this.#valueText(schema, keyword, value, depth)},`;
    }
    return text;
  }

  #valueText(schema: Schema, keyword: string, value: unknown, depth: number): string {
    if (typeof value !== "object" || value === null) {
      const text = jsonText(value);
      return keyword === "$ref" ? `${this.#documentNumber(schema.document)} ${JSON.stringify(schema.base)} ${text}` : text;
    }
    const isList = Array.isArray(value);
    if (!isList && schemaKeywords.has(keyword)) return this.#schemaText(schema, value, depth);
    if (!(isList ? listKeywords : mapKeywords).has(keyword)) return jsonText(value);
    const known = this.#byObject.get(value);
    if (known !== undefined) return `=${known}`;
    let text = isList ? "list " : "map ";
    for (const [name, each] of getEntries(value))
      text += `${isList ? "" : JSON.stringify(name)}:${this.#schemaText(schema, each, depth)},`;
    const number = this.#byContent(text);
    this.#byObject.set(value, number);
    return `=${number}`;
  }

  #schemaText({ base, draft, document }: Schema, keywords: unknown, depth: number): string {
    if (!isJsonObject(keywords)) return jsonText(keywords);
    return `#${this.of({ keywords, ...document.getScope(keywords, { base, draft }) }, document, depth - 1)}`;
  }

  #documentNumber(document: SchemaDocument): number {
    return getOrInsert(this.#documents, document, () => this.#documents.size);
  }
}
