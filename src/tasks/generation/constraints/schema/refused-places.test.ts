/** A refused schema is said with the place of a keyword that the schema has there. */
import { expect, it } from "vitest";
import type { InferyardError } from "../../../../contract/errors.ts";
import { ConstraintBudget } from "../constraint-budget.ts";
import { compileSchema } from "./compile-schema.ts";

const dated = { type: "object", properties: { "a/b": { items: { not: { const: 5 } } } } };

it.each([
  ["a member", { properties: { m195: { uniqueItems: true } } }, "/properties/m195", "uniqueItems"],
  ["a number", { allOf: [{ minimum: 1 }, { multipleOf: -1 }], type: "number" }, "/allOf/1", "multipleOf"],
  ["an item of a member", dated, "/properties/a~1b/items", "not"],
  ["a reference", { $ref: "#/$defs/x~1y", $defs: { "x/y": { items: { $ref: "#/no" } } } }, "/$defs/x~1y/items", "$ref"],
  ["a condition", { allOf: [{ if: { properties: { m: { const: 1 } } }, else: { required: ["n"] } }] }, "/allOf/0", "if"],
  ["what is negated", { properties: { m: { type: "string", not: { minLength: "x" } } } }, "/properties/m", "not"],
  ["an alternative", { items: { oneOf: [{ type: "object" }, { maxProperties: 1 }] } }, "/items", "oneOf"],
  ["members with other names", { patternProperties: { "^a": { pattern: "(" } } }, "/patternProperties/^a", "pattern"],
])("in %s", (_where, schema, pointer, keyword) => {
  let data: InferyardError["data"] | undefined;
  try {
    compileSchema(schema);
  } catch (error) {
    data = (error as InferyardError).data;
  }
  expect({ pointer: data?.["pointer"], keyword: data?.["keyword"] }).toEqual({ pointer, keyword });
  expect(Object.keys(valueAt(schema, pointer))).toContain(keyword);
});

it("for what is not a schema, and for what exceeds a limit", () => {
  expect(() => compileSchema({ properties: { m195: 5 } })).toThrow('the schema at "/properties/m195": a schema is an object');
  const strings = Array.from({ length: 200 }, (_, index) => [
    `m${index}`,
    { type: "string", pattern: `(a|b)*a(a|b){6}${index}` },
  ]);
  const compile = (): unknown => compileSchema({ properties: Object.fromEntries(strings) });
  expect(() => new ConstraintBudget({ steps: 100_000 }).run(compile)).toThrow(
    /the schema at "\/properties\/m\d+", keyword "pattern"/,
  );
});

function valueAt(schema: unknown, pointer: string): object {
  const names = pointer.split("/").slice(1);
  return names.reduce<unknown>(
    (value, name) => Reflect.get(value as object, name.replaceAll("~1", "/").replaceAll("~0", "~")),
    schema,
  ) as object;
}
