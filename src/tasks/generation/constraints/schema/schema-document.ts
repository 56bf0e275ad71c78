/** A JSON schema with its references. */
import { type ConstraintPlace, chargeSteps } from "../constraint-budget.ts";
import { refusal } from "../refusal.ts";

/** Keywords of a schema, and where it is. */
export interface SchemaPart {
  readonly keywords: Readonly<Record<string, unknown>>;
  /** JSON pointer. */
  readonly pointer: string;
  /** URI that its references are relative to. */
  readonly base: string;
  /** Where in the document it is negated, for a schema that was made from the negation of another. */
  readonly negatedBy?: ConstraintPlace | undefined;
}

/** Where in the document a keyword of a schema is: for a negation, the keyword that negates. */
export function placeOf(part: SchemaPart | undefined, keyword: string): ConstraintPlace {
  return part?.negatedBy ?? { keyword, pointer: part?.pointer ?? "" };
}

/** A schema anywhere in a document; false: no value is valid. */
export type SchemaPlace = SchemaPart | false;

const rootBase = "json-schema:///";
/** Keywords whose values are data, not schemas. */
const data: ReadonlySet<string> = new Set(["const", "enum", "default", "examples", "example"]);

/** A schema with everything it refers to. Remote schemas are refused. */
export class SchemaDocument {
  readonly root: SchemaPlace;
  /** Whether keywords beside `$ref` are ignored, as in drafts up to 7. */
  readonly ignoresBesideRef: boolean;
  readonly #targets = new Map<string, SchemaPlace>();
  readonly #places = new Map<object, SchemaPart>();
  readonly #idKeyword: string;

  constructor(schema: unknown) {
    const dialect = isObject(schema) && typeof schema["$schema"] === "string" ? schema["$schema"] : "";
    if (/^https?:/.test(dialect) && !/^https?:\/\/json-schema\.org\//.test(dialect)) {
      throw refusal(`the dialect ${JSON.stringify(dialect)} is not known`, "leave $schema out, or give one of json-schema.org", {
        keyword: "$schema",
        pointer: "",
      });
    }
    this.ignoresBesideRef = /draft-0[3-7]/.test(dialect);
    this.#idKeyword = /draft-0[34]/.test(dialect) ? "id" : "$id";
    this.root = this.place(schema, "", rootBase);
    this.#index(schema, "", rootBase, 0);
  }

  /** A schema of the document, or one made from the negation of one. Throws INPUT_INVALID for what is none. */
  place(schema: unknown, pointer: string, base: string, negatedBy?: ConstraintPlace): SchemaPlace {
    if (schema === false) return false;
    if (schema === true) return { keywords: {}, pointer, base, negatedBy };
    if (!isObject(schema)) throw refusal("a schema is an object, true or false", "correct it", negatedBy ?? { pointer });
    const known = this.#places.get(schema);
    if (known !== undefined) return known;
    const part: SchemaPart = { keywords: schema, pointer, base: this.baseOf(schema, base), negatedBy };
    this.#places.set(schema, part);
    return part;
  }

  /** The schema that a keyword of another holds: `path` leads to it. */
  below({ pointer, base, negatedBy }: SchemaPart, schema: unknown, ...path: readonly (string | number)[]): SchemaPlace {
    chargeSteps(3 * path.length);
    return this.place(
      schema,
      path.reduce<string>((place, name) => `${place}/${escapeName(String(name))}`, pointer),
      base,
      negatedBy,
    );
  }

  /** What a `$ref` refers to. Throws INPUT_INVALID if it is not in the document. */
  resolve(reference: string, from: SchemaPart): SchemaPlace {
    chargeSteps(100 + reference.length + from.base.length);
    const uri = resolved(reference, from.base);
    const known = this.#targets.get(uri) ?? this.#targets.get(uri.replace(/#$/, ""));
    if (known !== undefined) return known;
    const [document = "", fragment = ""] = uri.split("#");
    const start = this.#targets.get(document);
    const target =
      start === undefined || start === false || !fragment.startsWith("/")
        ? undefined
        : this.#follow(start, decodeURIComponent(fragment));
    if (target === undefined) {
      throw refusal(
        `${JSON.stringify(reference)} is not in the schema`,
        "put what it refers to into $defs",
        placeOf(from, "$ref"),
      );
    }
    return target;
  }

  #follow(start: SchemaPart, fragment: string): SchemaPlace | undefined {
    let value: unknown = start.keywords;
    let { base } = start;
    for (const name of fragment.slice(1).split("/").map(unescapeName)) {
      if (!isContainer(value) || !Object.hasOwn(value, name)) return undefined;
      value = Reflect.get(value, name);
      if (isObject(value)) base = this.baseOf(value, base);
    }
    return isObject(value) || typeof value === "boolean" ? this.place(value, start.pointer + fragment, base) : undefined;
  }

  /** URI that the references of a schema are relative to. `base`: of the schema that contains it. */
  baseOf(schema: Readonly<Record<string, unknown>>, base: string): string {
    const id = schema[this.#idKeyword];
    if (typeof id !== "string" || id.startsWith("#")) return base;
    if (this.ignoresBesideRef && "$ref" in schema) return base;
    chargeSteps(100 + id.length + base.length);
    return resolved(id, base).split("#")[0] ?? base;
  }

  #index(value: unknown, pointer: string, base: string, depth: number): void {
    chargeSteps(10);
    if (!isContainer(value) || depth > 500) return;
    let own = base;
    if (isObject(value)) {
      const part = this.#places.get(value) ?? { keywords: value, pointer, base: this.baseOf(value, base) };
      own = part.base;
      if (own !== base || depth === 0) {
        this.#places.set(value, part);
        this.#targets.set(own, part);
        if (depth === 0) this.#targets.set(rootBase, part);
      }
      for (const name of [value["$anchor"], value["$dynamicAnchor"], value[this.#idKeyword]]) {
        if (typeof name !== "string" || name === "") continue;
        if (name === value[this.#idKeyword] && !name.startsWith("#")) continue;
        this.#places.set(value, part);
        this.#targets.set(`${own}#${name.replace(/^#/, "")}`, part);
      }
    }
    for (const [name, child] of Object.entries(value)) {
      if (!data.has(name) || Array.isArray(value)) this.#index(child, `${pointer}/${escapeName(name)}`, own, depth + 1);
    }
  }
}

function resolved(reference: string, base: string): string {
  try {
    return new URL(reference, base).href;
  } catch {
    return `${base}${reference}`;
  }
}

/** Whether a value is an object of JSON. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function escapeName(name: string): string {
  return !/[~/]/.test(name) ? name : name.replaceAll("~", "~0").replaceAll("/", "~1");
}

function unescapeName(name: string): string {
  return name.replaceAll("~1", "/").replaceAll("~0", "~");
}
