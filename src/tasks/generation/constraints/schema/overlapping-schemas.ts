/** Which of many schemas may have a value in common: by what tells them apart, such as a member with a constant, before they are compared one by one. */
import { addToList, getOrInsert } from "../../../../contract/checked.ts";
import { chargeSteps } from "../constraint-budget.ts";
import { type DisjointContext, flatsDisjoint, getSchemaMembers, getValues } from "./disjoint-schemas.ts";
import { isClosed, getMap, requiredNames, getTypes } from "./keywords.ts";
import type { FlatSchema } from "./schema-context.ts";
import type { SchemaPart, SchemaPlace } from "./schema-document.ts";

/** Depth to which members of members are looked at. */
const maxDepth = 3;
/** A key that all schemas have whose objects may lack the member. */
const absent = "absent";

/**
 * What the values of one schema have, by facet: schemas that have the same facet and no key of it in common have no value in common. Facets are the value itself, its type,
 * and a member at a path.
 */
type Facets = ReadonlyMap<string, ReadonlySet<string>>;

/** For each list of schemas, all of which must be valid: the indices of the other lists that may be valid for the same value. */
export function overlappingSchemas(
  context: DisjointContext,
  lists: readonly (readonly SchemaPlace[])[],
): readonly (readonly number[])[] {
  const flats = lists.map((list) => context.schemas.flatten(list));
  const facets = flats.map((flat) => (flat === undefined ? new Map() : getFacets(context, flat)));
  const index = new FacetIndex(facets);
  const names = new NameIndex(flats);
  return flats.map((flat, number) => {
    if (flat === undefined) return [];
    const [byFacet, byName] = [index.best(number), names.best(number)];
    const { list } = byName.count < byFacet.count ? byName : byFacet;
    const candidates = list();
    chargeSteps(candidates.length);
    return candidates.filter((other) => {
      const otherFlat = flats[other];
      if (other === number || otherFlat === undefined) return false;
      chargeSteps(150);
      return !flatsDisjoint(context, flat, otherFlat);
    });
  });
}

function getFacets(context: DisjointContext, flat: FlatSchema): Facets {
  const facets = new Map<string, ReadonlySet<string>>();
  if (flat.options !== undefined) return facets;
  const { parts } = flat;
  const types = getTypes(parts).map((type) => (type === "integer" ? "number" : type));
  facets.set("type", new Set(types));
  const values = getValues(parts);
  if (values !== undefined) facets.set("value", new Set(values.keys()));
  if (types.includes("object")) {
    const otherTypes = types.filter((type) => type !== "object").map((type) => `type ${type}`);
    addMembers({ context, facets, otherTypes }, parts, "", maxDepth, true);
  }
  return facets;
}

interface Collecting {
  readonly context: DisjointContext;
  readonly facets: Map<string, ReadonlySet<string>>;
  /** Keys of the types other than objects that the value may have. */
  readonly otherTypes: readonly string[];
}

/** Adds the members whose values are listed. `always`: whether every object has the member at `path`. */
function addMembers(collecting: Collecting, parts: readonly SchemaPart[], path: string, depth: number, always: boolean): void {
  const { context, facets, otherTypes } = collecting;
  const required = requiredNames(parts);
  const names = new Set(parts.flatMap((part) => Object.keys(getMap(part, "properties"))));
  chargeSteps(5 * names.size);
  for (const name of names) {
    const isThere = always && required.has(name);
    const flat = context.schemas.flatten(getSchemaMembers(context.schemas, parts, name));
    if (flat === undefined || flat.options !== undefined) continue;
    const facet = `${path}/${JSON.stringify(name)}`;
    const values = getValues(flat.parts);
    if (values !== undefined) facets.set(facet, new Set([...values.keys(), ...(isThere ? [] : [absent]), ...otherTypes]));
    else if (depth > 1 && isThere && getTypes(flat.parts).every((type) => type === "object"))
      addMembers(collecting, flat.parts, facet, depth - 1, true);
  }
}

/** Finds schemas that share a key of a facet. */
class FacetIndex {
  readonly #facets: readonly Facets[];
  readonly #byKey = new Map<string, Map<string, number[]>>();
  /** By facet: number of schemas that have it. */
  readonly #counts = new Map<string, number>();

  constructor(facets: readonly Facets[]) {
    this.#facets = facets;
    for (const [number, own] of facets.entries()) {
      for (const [facet, keys] of own) {
        this.#counts.set(facet, (this.#counts.get(facet) ?? 0) + 1);
        const byKey = getOrInsert(this.#byKey, facet, () => new Map<string, number[]>());
        chargeSteps(keys.size);
        for (const key of keys) addToList(byKey, key, number);
      }
    }
  }

  /** The schemas that may overlap with one, by the facet that leaves fewest. */
  best(number: number): Candidates {
    const all = this.#facets.length;
    let fewest = all;
    let best: string | undefined;
    for (const [facet, keys] of this.#facets[number] ?? []) {
      const byKey = this.#byKey.get(facet);
      let count = all - (this.#counts.get(facet) ?? 0);
      for (const key of keys) count += byKey?.get(key)?.length ?? 0;
      chargeSteps(keys.size);
      if (count >= fewest) continue;
      fewest = count;
      best = facet;
    }
    const facet = best;
    return { count: fewest, list: () => (facet === undefined ? numbersBelow(all) : this.#having(number, facet)) };
  }

  /** The schemas that share a key of a facet with one, or do not have the facet. */
  #having(number: number, facet: string): readonly number[] {
    const keys = this.#facets[number]?.get(facet) ?? new Set();
    const found = new Set([...keys].flatMap((key) => this.#byKey.get(facet)?.get(key) ?? []));
    if (this.#counts.get(facet) !== this.#facets.length) {
      chargeSteps(this.#facets.length);
      for (const [other, facets] of this.#facets.entries()) if (!facets.has(facet)) found.add(other);
    }
    return [...found];
  }
}

/** Numbers of schemas, listed where they are needed. */
interface Candidates {
  /** At most so many. */
  readonly count: number;
  readonly list: () => readonly number[];
}

function numbersBelow(count: number): readonly number[] {
  return Array.from({ length: count }, (_, number) => number);
}

/** Finds schemas whose objects may have the names that one requires. */
class NameIndex {
  /** By name: the closed schemas that allow it. */
  readonly #allowing = new Map<string, number[]>();
  /** Schemas that allow any name, or values other than objects. */
  readonly #open: number[] = [];
  readonly #required: readonly ReadonlySet<string>[];
  readonly #count: number;

  constructor(flats: readonly (FlatSchema | undefined)[]) {
    this.#count = flats.length;
    this.#required = flats.map((flat) => {
      const isObject =
        flat !== undefined && flat.options === undefined && getTypes(flat.parts).every((type) => type === "object");
      return isObject ? requiredNames(flat.parts) : new Set();
    });
    for (const [number, flat] of flats.entries()) {
      const closed = flat?.parts.find(isClosed);
      if (closed === undefined || flat?.options !== undefined) {
        this.#open.push(number);
        continue;
      }
      for (const name of Object.keys(getMap(closed, "properties"))) {
        chargeSteps(1);
        addToList(this.#allowing, name, number);
      }
    }
  }

  /** The schemas that allow a name that one requires, by the name that fewest allow. */
  best(number: number): Candidates {
    let best: readonly number[] | undefined;
    for (const name of this.#required[number] ?? []) {
      chargeSteps(1);
      const allowing = this.#allowing.get(name) ?? [];
      if (best === undefined || allowing.length < best.length) best = allowing;
    }
    const found = best;
    if (found === undefined) return { count: this.#count, list: () => numbersBelow(this.#count) };
    return { count: found.length + this.#open.length, list: () => [...found, ...this.#open] };
  }
}
