/** What compiling takes, as its budget counts it, grows in proportion to the size of what is compiled. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { compileSource } from "../chat/answer-grammar.ts";
import { ConstraintBudget } from "./constraint-budget.ts";
import { checkGrammar } from "./grammar/check-grammar.ts";
import { type TextConstraint, constraintSource } from "./text-constraint.ts";

const many = <Item>(count: number, item: (index: number) => Item): readonly Item[] =>
  Array.from({ length: count }, (_, index) => item(index));
const byName = <Value>(count: number, value: (index: number) => Value): Readonly<Record<string, Value>> =>
  Object.fromEntries(many(count, (index) => [`member_${index}`, value(index)]));
const names = (count: number): readonly string[] => many(count, (index) => `member_${index}`);
const tagged = (index: number): object => ({ type: "object", properties: { kind: { const: `k${index}` } }, required: ["kind"] });

/** Schemas of a size, by the keyword that grows. */
const schemas: Readonly<Record<string, (size: number) => object>> = {
  properties: (size) => ({ properties: byName(size, () => ({ type: "string" })) }),
  "properties that differ": (size) => ({ properties: byName(size, (index) => ({ type: "string", maxLength: index })) }),
  "properties, closed": (size) => ({ properties: byName(size, () => ({})), additionalProperties: false }),
  "properties and others": (size) => ({ properties: byName(size, () => ({})), additionalProperties: { type: "null" } }),
  required: (size) => ({ type: "object", required: names(size) }),
  "required properties": (size) => ({
    type: "object",
    properties: byName(size, () => ({ type: "null" })),
    required: names(size),
  }),
  "minProperties of closed objects": (size) => ({
    properties: byName(size, () => ({})),
    additionalProperties: false,
    minProperties: size,
  }),
  "oneOf with a tag": (size) => ({ oneOf: many(size, tagged) }),
  "oneOf with a tag within a member": (size) => ({
    oneOf: many(size, (index) => ({ type: "object", properties: { inner: tagged(index) }, required: ["inner"] })),
  }),
  "oneOf, each with a member of its own": (size) => ({
    oneOf: many(size, (index) => ({
      type: "object",
      properties: { [`m${index}`]: {} },
      required: [`m${index}`],
      additionalProperties: false,
    })),
  }),
  "oneOf of constants": (size) => ({ oneOf: many(size, (index) => ({ const: index, title: `${index}` })) }),
  anyOf: (size) => ({ anyOf: many(size, tagged) }),
  allOf: (size) => ({ allOf: many(size, (index) => ({ properties: { [`m${index}`]: { type: "null" } } })) }),
  enum: (size) => ({ enum: many(size, (index) => `value ${index}`) }),
  "enum of other values": (size) => ({ enum: many(size, (index) => [index, { a: index }]).flat() }),
  const: (size) => ({ const: many(size, (index) => index) }),
  prefixItems: (size) => ({ prefixItems: many(size, (index) => ({ maxLength: index })) }),
  $ref: (size) => ({ $defs: { leaf: { type: "null" } }, properties: byName(size, () => ({ $ref: "#/$defs/leaf" })) }),
  $defs: (size) => ({
    $defs: byName(size, (index) => ({ properties: { next: { $ref: `#/$defs/member_${(index + 1) % size}` } } })),
    $ref: "#/$defs/member_0",
  }),
  pattern: (size) => ({ properties: byName(size, () => ({ pattern: "^[a-z]{1,9}$" })) }),
  "pattern of many words": (size) => ({ pattern: `^(?:${many(size, (index) => `word${index}x`).join("|")})$` }),
  format: (size) => ({ properties: byName(size, () => ({ format: "ipv4" })) }),
  minLength: (size) => ({ minLength: size, maxLength: size + 9 }),
  "bounds of numbers": (size) => ({ properties: byName(size, (index) => ({ type: "integer", minimum: 1000 + index })) }),
  multipleOf: (size) => ({ type: "integer", multipleOf: size }),
  propertyNames: (size) => ({ propertyNames: { maxLength: 9 }, properties: byName(size, () => ({})) }),
  patternProperties: (size) => ({ patternProperties: { "^x": { type: "null" } }, properties: byName(size, () => ({})) }),
  "annotations and unknown words": (size) => ({
    title: "t".repeat(size),
    "x-own": many(size, () => 1),
    default: many(size, () => 1),
  }),
  nesting: (size) => JSON.parse(`${'{"items":'.repeat(size / 4)}{}${"}".repeat(size / 4)}`) as object,
  "nesting of objects": (size) => JSON.parse(`${'{"properties":{"a":'.repeat(size / 4)}{}${"}}".repeat(size / 4)}`) as object,
};

/** Other constraints. */
const others: Readonly<Record<string, (size: number) => TextConstraint>> = {
  choices: (size) => ({ type: "choice", choices: many(size, (index) => `choice ${index}`) }),
  "a regular expression": (size) => ({ type: "regex", pattern: many(size, (index) => `[a-z]${index % 10}`).join("") }),
  "rules in a chain (GBNF)": (size) => ({
    type: "grammar",
    grammar: `root ::= r0\n${many(size, (index) => `r${index} ::= "a" r${index + 1}\n`).join("")}r${size} ::= "b"`,
  }),
  "rules in a chain without texts (GBNF)": (size) => ({
    type: "grammar",
    grammar: `root ::= r0\n${many(size, (index) => `r${index} ::= r${index + 1} | "a"\n`).join("")}r${size} ::= "b"`,
  }),
  "alternatives (GBNF)": (size) => ({ type: "grammar", grammar: `root ::= ${many(size, (index) => `"${index}"`).join(" | ")}` }),
  "sequences (GBNF)": (size) => ({ type: "grammar", grammar: `root ::= ${many(size, () => '[a-z] "x"?').join(" ")}` }),
  "rules (Lark)": (size) => ({
    type: "grammar",
    grammar: `start: r0\n${many(size, (index) => `r${index}: "a" r${index + 1}\n`).join("")}r${size}: "b"\n`,
  }),
  "terminals (Lark)": (size) => ({
    type: "grammar",
    grammar: `start: ${names(size)
      .map((name) => name.toUpperCase())
      .join(" | ")}\n${many(size, (index) => `MEMBER_${index}: "t${index}"\n`).join("")}`,
  }),
};

const sources: Readonly<Record<string, (size: number) => string>> = {
  ...Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      name,
      (size: number) => constraintSource({ type: "schema", schema: schema(size) }).text,
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(others).map(([name, other]) => [name, (size: number) => constraintSource(other(size)).text]),
  ),
  tools: (size) =>
    JSON.stringify({
      kind: "call",
      form: {
        syntax: { kind: "json" },
        written: { open: "", name: ['{"name": ', ', "parameters": '], isJsonName: true, afterArguments: "}", close: "" },
      },
      settings: {},
      tools: many(size, (index) => ({
        name: `tool_${index}`,
        parameters: { properties: { [`p${index % 7}`]: { type: "string" } } },
      })),
    }),
};

function costOf(source: string): Readonly<Record<"states" | "bytes" | "steps", number>> {
  const budget = new ConstraintBudget({ states: 1e9, bytes: 1e12, steps: 1e9, milliseconds: 1e9 });
  budget.run(() => checkGrammar(compileSource(source)));
  return budget.used;
}

const factor = 4;
/** Of quadratic growth it is 16. Sorting, and what is done once, are between. */
const greatestRatio = 6;

it("of every keyword, from sizes chosen at random to four times as many", () => {
  const cases = Object.entries(sources);
  fc.assert(
    fc.property(fc.integer({ min: 100, max: 200 }), (size) => {
      const wrong = cases.flatMap(([name, source]) => {
        const [small, large] = [costOf(source(size)), costOf(source(size * factor))];
        return (["states", "bytes", "steps"] as const).flatMap((unit) =>
          large[unit] > greatestRatio * small[unit] + 20_000 ? [`${unit} of ${name}: ${small[unit]} to ${large[unit]}`] : [],
        );
      });
      expect(wrong).toEqual([]);
    }),
    { numRuns: 1, seed: 7 },
  );
});
