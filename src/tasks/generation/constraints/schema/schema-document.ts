/** A JSON schema with its references. */
import { getOrInsert } from "../../../../contract/checked.ts";
import { isJsonObject } from "../../../../formats/json/exact-json.ts";
import { type ConstraintPlace, chargeSteps } from "../constraint-budget.ts";
import { constraintRefusal } from "../refusal.ts";
import { type Draft, getDraft, getKeywords } from "./drafts.ts";

/** Keywords of a schema, and where it is. */
export interface SchemaPart {
  /** Keywords of its draft. */
  readonly keywords: Readonly<Record<string, unknown>>;
  /** JSON pointer. */
  readonly pointer: string;
  /** URI that its references are relative to. */
  readonly base: string;
  /** Draft of JSON Schema. Undefined: the keywords of all drafts are obeyed. */
  readonly draft: Draft | undefined;
  /** Where in the document it is negated, for a schema that was made from the negation of another. */
  readonly negatedBy?: ConstraintPlace | undefined;
}

/** Where in the document a keyword of a schema is: for a negation, the keyword that negates. */
export function getPlace(part: SchemaPart | undefined, keyword: string): ConstraintPlace {
  return part?.negatedBy ?? { keyword, pointer: part?.pointer ?? "" };
}

/** Where a schema is. */
export type SchemaLocation = Pick<SchemaPart, "pointer" | "base" | "draft" | "negatedBy">;

/** A schema anywhere in a document; false: no value is valid. */
export type SchemaPlace = SchemaPart | false;

const rootBase = "json-schema:///";
/** Keywords whose values are data, not schemas. */
const data: ReadonlySet<string> = new Set(["const", "enum", "default", "examples", "example"]);

/** A schema with everything it refers to. Remote schemas are refused. */
export class SchemaDocument {
  readonly root: SchemaPlace;
  readonly #targets = new Map<string, SchemaPlace>();
  readonly #places = new Map<object, SchemaPart>();
  /** The schemas that some keywords are of, where these are not all of the schema's. */
  readonly #sources = new Map<object, object>();

  constructor(schema: unknown) {
    const location = { pointer: "", base: rootBase, draft: undefined };
    this.root = this.place(schema, location);
    this.#index(schema, location, 0);
  }

  /** A schema of the document, or a negated one. Throws INPUT_INVALID for other values. */
  place(schema: unknown, location: SchemaLocation): SchemaPlace {
    const { pointer } = location;
    if (schema === false) return false;
    if (schema === true) return { ...location, keywords: {} };
    if (!isJsonObject(schema))
      throw constraintRefusal("a schema is an object, true or false", "correct it", location.negatedBy ?? { pointer });
    return getOrInsert(this.#places, schema, () => this.#getPart(schema, location));
  }

  #getPart(schema: Readonly<Record<string, unknown>>, location: SchemaLocation): SchemaPart {
    const { base, draft } = this.getScope(schema, location);
    const keywords = getKeywords(schema, draft);
    if (keywords !== schema) this.#sources.set(keywords, schema);
    return { keywords, pointer: location.pointer, base, draft, negatedBy: location.negatedBy };
  }

  /** The schema that a keyword of another holds: `path` leads to it. */
  below({ pointer, base, draft, negatedBy }: SchemaPart, schema: unknown, ...path: readonly (string | number)[]): SchemaPlace {
    chargeSteps(3 * path.length);
    const below = path.reduce<string>((place, name) => `${place}/${escapeName(String(name))}`, pointer);
    return this.place(schema, { pointer: below, base, draft, negatedBy });
  }

  /** The schema that a `$ref` refers to. Throws INPUT_INVALID if it is not in the document. */
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
      throw constraintRefusal(
        `${JSON.stringify(reference)} is not in the schema`,
        "put what it refers to into $defs",
        getPlace(from, "$ref"),
      );
    }
    return target;
  }

  #follow(start: SchemaPart, fragment: string): SchemaPlace | undefined {
    let value: unknown = this.#sources.get(start.keywords) ?? start.keywords;
    let scope: Pick<SchemaPart, "base" | "draft"> = start;
    for (const name of fragment.slice(1).split("/").map(unescapeName)) {
      if (!isContainer(value) || !Object.hasOwn(value, name)) return undefined;
      value = Reflect.get(value, name);
      if (isJsonObject(value)) scope = this.getScope(value, scope);
    }
    if (!isJsonObject(value) && typeof value !== "boolean") return undefined;
    return this.place(value, { pointer: start.pointer + fragment, base: scope.base, draft: scope.draft });
  }

  /** The draft of a schema, and the URI that its references are relative to. `around`: of the schema that contains it. */
  getScope(
    schema: Readonly<Record<string, unknown>>,
    around: Pick<SchemaPart, "base" | "draft">,
  ): Pick<SchemaPart, "base" | "draft"> {
    const draft = getDraft(schema, around.draft);
    const id = schema[idKeyword(draft)];
    if (typeof id !== "string" || id.startsWith("#") || (ignoresBesideRef(draft) && "$ref" in schema))
      return { base: around.base, draft };
    chargeSteps(100 + id.length + around.base.length);
    return { base: resolved(id, around.base).split("#")[0] ?? around.base, draft };
  }

  #index(value: unknown, location: SchemaLocation, depth: number): void {
    chargeSteps(10);
    if (!isContainer(value) || depth > 500) return;
    let own = location;
    if (isJsonObject(value)) {
      const part = this.#places.get(value) ?? this.#getPart(value, location);
      own = { ...part, pointer: location.pointer };
      if (own.base !== location.base || depth === 0) {
        this.#places.set(value, part);
        this.#targets.set(own.base, part);
        if (depth === 0) this.#targets.set(rootBase, part);
      }
      const id = value[idKeyword(own.draft)];
      for (const name of [value["$anchor"], value["$dynamicAnchor"], id]) {
        if (typeof name !== "string" || name === "") continue;
        if (name === id && !name.startsWith("#")) continue;
        this.#places.set(value, part);
        this.#targets.set(`${own.base}#${name.replace(/^#/, "")}`, part);
      }
    }
    for (const [name, child] of Object.entries(value)) {
      if (!data.has(name) || Array.isArray(value))
        this.#index(child, { ...own, pointer: `${own.pointer}/${escapeName(name)}` }, depth + 1);
    }
  }
}

/** Whether keywords in the same schema as `$ref` are ignored, as in drafts up to 7. */
export function ignoresBesideRef(draft: Draft | undefined): boolean {
  return draft !== undefined && draft <= 7;
}

function idKeyword(draft: Draft | undefined): string {
  return draft !== undefined && draft <= 4 ? "id" : "$id";
}

function resolved(reference: string, base: string): string {
  try {
    return new URL(reference, base).href;
  } catch {
    return `${base}${reference}`;
  }
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
