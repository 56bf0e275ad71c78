/** Drafts of JSON Schema: which keywords each of them has. */
import { constraintRefusal } from "../refusal.ts";

/** A draft by its number; from 2019-09 on by its year. */
export type Draft = 3 | 4 | 6 | 7 | 2019 | 2020;

/** A draft by the address that `$schema` gives; undefined for the newest one, whichever it is, which counts as no draft. */
const addresses: readonly (readonly [RegExp, Draft])[] = [
  [/draft-0?3\b/, 3],
  [/draft-0?[45]\b/, 4],
  [/draft-0?6\b/, 6],
  [/draft-0?7\b/, 7],
  [/draft\/2019-09\b/, 2019],
  [/draft\/2020-12\b/, 2020],
];

/** Keywords that not all drafts have: the first and the last draft that does. Others say the same in all of them, or nothing of values. */
const spans: ReadonlyMap<string, readonly [first: Draft, last: Draft]> = new Map([
  ["extends", [3, 3]],
  ["disallow", [3, 3]],
  ["divisibleBy", [3, 3]],
  ["id", [3, 4]],
  ["dependencies", [3, 7]],
  ["additionalItems", [3, 2019]],
  ["multipleOf", [4, 2020]],
  ["minProperties", [4, 2020]],
  ["maxProperties", [4, 2020]],
  ["allOf", [4, 2020]],
  ["anyOf", [4, 2020]],
  ["oneOf", [4, 2020]],
  ["not", [4, 2020]],
  ["$id", [6, 2020]],
  ["const", [6, 2020]],
  ["contains", [6, 2020]],
  ["propertyNames", [6, 2020]],
  ["if", [7, 2020]],
  ["then", [7, 2020]],
  ["else", [7, 2020]],
  ["$anchor", [2019, 2020]],
  ["$recursiveRef", [2019, 2019]],
  ["minContains", [2019, 2020]],
  ["maxContains", [2019, 2020]],
  ["dependentRequired", [2019, 2020]],
  ["dependentSchemas", [2019, 2020]],
  ["unevaluatedItems", [2019, 2020]],
  ["unevaluatedProperties", [2019, 2020]],
  ["$dynamicRef", [2020, 2020]],
  ["$dynamicAnchor", [2020, 2020]],
  ["prefixItems", [2020, 2020]],
]);

/**
 * The draft that `$schema` names; undefined if it names none: then the keywords of all drafts count. `otherwise`: of the schema around it. Throws INPUT_INVALID for the address of
 * another dialect.
 */
export function getDraft(schema: Readonly<Record<string, unknown>>, otherwise?: Draft): Draft | undefined {
  const { $schema: address } = schema;
  if (typeof address !== "string" || address === "") return otherwise;
  if (/^https?:/.test(address) && !/^https?:\/\/json-schema\.org\//.test(address)) {
    throw constraintRefusal(
      `the dialect ${JSON.stringify(address)} is not known`,
      "leave $schema out, or give one of json-schema.org",
      {
        keyword: "$schema",
        pointer: "",
      },
    );
  }
  return addresses.find(([expression]) => expression.test(address))?.[1] ?? otherwise;
}

/** Whether a draft has a keyword. A keyword that it does not have is an annotation. */
export function hasKeyword(draft: Draft | undefined, keyword: string): boolean {
  const span = draft === undefined ? undefined : spans.get(keyword);
  return span === undefined || draft === undefined || (span[0] <= draft && draft <= span[1]);
}

/** The keywords of a schema that a draft has: the schema itself if it has no others. */
export function getKeywords(
  schema: Readonly<Record<string, unknown>>,
  draft: Draft | undefined,
): Readonly<Record<string, unknown>> {
  if (draft === undefined || Object.keys(schema).every((keyword) => hasKeyword(draft, keyword))) return schema;
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => hasKeyword(draft, keyword)));
}
