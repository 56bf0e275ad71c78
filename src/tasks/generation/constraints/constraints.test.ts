import { existsSync, readFileSync, readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sharedData } from "../../../../test/fixtures/shared-data.ts";
import { amount } from "../../../../test/fixtures/slow.ts";
import { ConstraintBudget } from "./constraint-budget.ts";
import { parseDecimal } from "./automata/decimals.ts";
import { numberDfa, type NumberRange } from "./automata/numbers.ts";
import { regularExpressionDfa } from "./automata/regular-expression.ts";
import { PushdownMachine } from "./grammar/pushdown-machine.ts";
import type { SchemaSettings } from "./schema/compile-schema.ts";
import { type TextConstraint, compileConstraint } from "./text-constraint.ts";

function acceptorOf(constraint: TextConstraint, settings: SchemaSettings = {}): (text: string) => boolean {
  const machine = new PushdownMachine(compileConstraint(constraint, settings));
  return (text) => {
    let state: PushdownMachine["start"] | undefined = machine.start;
    for (const byte of new TextEncoder().encode(text)) state = state === undefined ? undefined : machine.step(state, byte);
    return state?.accepts === true;
  };
}

/** Of other languages: ECMAScript would take the letter itself. */
const foreign = [
  String.raw`^abc\Z`,
  String.raw`\Aabc`,
  String.raw`a\z`,
  String.raw`\Qa.b\E\-`,
  String.raw`\p{L}\-`,
  String.raw`\h+\-`,
  String.raw`\x4\-`,
  String.raw`\u{1F600}\-`,
  String.raw`\1\-`,
  String.raw`[\Z\-]`,
  String.raw`\c`,
  "[[:alpha:]]+",
];

describe("regular expressions", () => {
  const texts = [
    "",
    "a",
    "aab",
    "b",
    "xabcx",
    "123-4567",
    "foobar",
    "foo",
    "foox",
    "me@x.org",
    "éa",
    "Abc1",
    "abc1",
    "A1",
    "ac",
    "bc",
  ];
  const others = ["xbc", "x", "xy", "é😀", "😀😀", "-1.5", "+", "a,b", "ba", "b,a,c", "\n", "a\nb", "FOO", "ſ", "\u2028"];

  it.each([
    ..."^a+b?$ abc ^\\d{3}-\\d{4}$ ^(foo|bar)*$ a|^b$ ^[^\\s@]+@[^\\s@]+\\.[a-z]{2,}$ ^\\p{L}+$ ^(?!foo)\\w+$ ^$ ^.{2,4}$".split(
      " ",
    ),
    ..."^(?=.*[A-Z])(?=.*\\d).{3,}$ ^(a|^b)c x$|y [\\u00e9-\\u{1F600}]{2} ^a{0}$ (^|,)a(,|$) ^(?:[+-]?\\d+(\\.\\d+)?)?$ \\W \\D\\S".split(
      " ",
    ),
    "",
  ])("%s matches what JavaScript's own matches", (source) => {
    const dfa = regularExpressionDfa(source);
    const expression = new RegExp(source, "u");
    for (const text of [...texts, ...others]) expect([text, dfa.matches(text)]).toEqual([text, expression.test(text)]);
    const whole = regularExpressionDfa(source, { whole: true, flags: "is" });
    const wholeExpression = new RegExp(`^(?:${source})$`, "isu");
    for (const text of [...texts, ...others].filter((each) => each !== "ſ")) {
      expect([text, whole.matches(text)]).toEqual([text, wholeExpression.test(text)]);
    }
  });

  it.each([String.raw`(a)\1`, String.raw`a\b`, "(?<=a)b", "a(?=b)", "(", "(a{200}){200}b{5000}", ...foreign])(
    "%s is refused",
    (source) => {
      expect(() => regularExpressionDfa(source)).toThrow(/./);
    },
  );
});

it("numbers within bounds are those that compare so", () => {
  let seed = 1;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  for (let round = 0; round < amount(200, 50); round += 1) {
    const digits = Math.floor(random() * 4);
    const value = (): number => Number(((random() - 0.5) * 10 ** Math.floor(random() * 5)).toFixed(digits));
    const [low, high, factor] = [value(), value(), [0.01, 5, 7, 2.5][Math.floor(random() * 4)]!];
    const written = (number: number): string => parseDecimal(String(number));
    const range: NumberRange = {
      isInteger: random() < 0.3,
      multipleOf: random() < 0.2 ? [written(factor)] : [],
      ...(random() < 0.5 ? { minimum: written(low) } : { exclusiveMinimum: written(low) }),
      ...(random() < 0.5 ? { maximum: written(high) } : { exclusiveMaximum: written(high) }),
    };
    const dfa = numberDfa(range);
    for (const near of [low, high, 0, value(), value()].flatMap((each) => [
      each,
      each + 1,
      each - 1,
      each + 0.001,
      Math.round(each),
    ])) {
      const number = Number(near.toFixed(4));
      const isMultiple = range.multipleOf.every(
        (each) => Math.abs(number / Number(each) - Math.round(number / Number(each))) < 1e-7,
      );
      const isAbove = number >= Number(range.minimum ?? -Infinity) && number > Number(range.exclusiveMinimum ?? -Infinity);
      const isBelow = number <= Number(range.maximum ?? Infinity) && number < Number(range.exclusiveMaximum ?? Infinity);
      const fits = (!range.isInteger || Number.isInteger(number)) && isMultiple && isAbove && isBelow;
      expect([range, number, !dfa.isEmpty && dfa.matches(String(number))]).toEqual([range, number, fits]);
    }
  }
});

describe("schemas", () => {
  it("have their members in any order, with white space, and escapes in strings", () => {
    const properties = { a: { type: "integer" }, "é\n": { enum: ["x/y", "\u0001", "😀"] } };
    const fits = acceptorOf({
      type: "schema",
      schema: { properties, required: ["a"], additionalProperties: false, type: "object" },
    });
    const valid = [
      '{"a":1}',
      '{\n "é\\n": "x/y",\r\n\t"a":-0\n}',
      '{ "a": 1 }',
      '{"a":1,"\\u00e9\\u000a":"x\\/y"}',
      '{"a":2,"é\\n":"\\u0001"}',
      '{"a":2,"é\\n":"\\ud83D\\ude00"}',
    ];
    const invalid = [
      "{}",
      '{"a":1.5}',
      '{"a":1,"a":2}',
      '{"a":01}',
      '{"a":1,"b":2}',
      '{"a":1,}',
      '{"a":2,"é\\n":"\\ud83d"}',
      '{"a":2,"é\n":"😀"}',
      '{"a":1} ',
    ];
    expect(valid.filter((text) => !fits(text))).toEqual([]);
    expect(invalid.filter((text) => fits(text))).toEqual([]);
  });

  it.each([
    // By default listed members alone, by the letter others too.
    [{ properties: { a: {} } }, ["{}", '{"a":1}'], ['{"b":1}', '{"a":1,"b":2}']],
    [{ properties: {} }, ["{}"], ['{"b":1}']],
    [{ properties: { a: {} }, required: ["c"] }, ['{"c":1}', '{"c":1,"a":2}'], ['{"c":1,"b":2}']],
    [{ properties: { a: {} }, patternProperties: { "^x": {} } }, ['{"x1":1,"x2":2}'], ['{"b":1}']],
    [{ allOf: [{ properties: { a: {} } }, { properties: { c: {} } }] }, ['{"a":1,"c":2}'], ['{"b":1}']],
    [{ $defs: { base: { properties: { a: {} } } }, $ref: "#/$defs/base", required: ["a"] }, ['{"a":1}'], ['{"a":1,"b":1}']],
    [{ anyOf: [{ properties: { a: {} } }, { properties: { c: {} } }] }, ['{"a":1}', '{"c":2}'], ['{"a":1,"b":1}']],
    [{ properties: { o: { properties: { a: {} }, type: "object" } } }, ['{"o":{"a":1}}'], ['{"o":{"b":1}}']],
    [{ properties: { a: {} }, minProperties: 1 }, ['{"a":1}'], ['{"b":1}']],
    // Others where the schema says what they are, where none is listed, where the listed are too few, and in listed values.
    [{ properties: { a: {} }, additionalProperties: true }, ['{"b":1}'], []],
    [{ properties: { a: {} }, additionalProperties: { type: "null" } }, ['{"b":null}'], []],
    [{}, ['{"b":{"c":[1]}}'], []],
    [{ properties: { a: false } }, ['{"b":1}'], []],
    [{ dependentRequired: { a: ["b"] } }, ['{"c":1}', '{"a":1,"b":2,"c":3}'], []],
    [{ properties: { a: false, b: { type: "null" } }, minProperties: 1, maxProperties: 1 }, ['{"b":null}'], []],
    [{ properties: {}, minProperties: 1 }, ['{"b":1}'], []],
    [{ properties: { a: {} }, enum: [{ a: 1, b: 2 }] }, ['{"a":1,"b":2}'], []],
    [{ properties: { v: { properties: { a: {} }, const: { b: 2 } } } }, ['{"v":{"b":2}}'], []],
  ] as const)("%j has %j, and only by the letter %j", (given, texts, unlisted) => {
    const schema = { type: "object", ...given };
    const [fits, byLetter] = [{}, { unlistedMembers: true }].map((settings) => acceptorOf({ type: "schema", schema }, settings));
    expect(texts.filter((text) => !fits!(text) || !byLetter!(text))).toEqual([]);
    expect(unlisted.filter((text) => fits!(text) || !byLetter!(text))).toEqual([]);
  });

  it("with enum allow those values that the other keywords allow, however deep", () => {
    const values = [{ a: { b: 1 } }, { a: { b: "x" } }, { a: 1 }, [2], [5], 7];
    const b = { type: "integer" };
    const fits = acceptorOf({
      type: "schema",
      schema: { enum: values, properties: { a: { type: "object", properties: { b } } }, items: { minimum: 3 } },
    });
    expect(values.filter((value) => fits(JSON.stringify(value)))).toEqual([{ a: { b: 1 } }, [5], 7]);
  });

  it("with a pattern and lengths read what JavaScript's own expression matches, of as many code points", () => {
    const texts = ["", "a", "é", "ab", "éé", "aaa", "😀a", "aaaa", "aaaaa", "x.y", "abc.d", "😀😀😀"];
    const lengths = [
      {},
      { maxLength: 0 },
      { maxLength: 3 },
      { minLength: 2, maxLength: 3 },
      { minLength: 4 },
      { minLength: 1, maxLength: 9 },
    ];
    for (const pattern of ["^(aa)*$", "^.{2}", "a", "^\\w+\\.\\w$", "^(?:a|😀)*$"]) {
      for (const length of lengths) {
        const { minLength = 0, maxLength = 9 } = length;
        const isRight = (text: string): boolean => {
          const count = Array.from(text).length;
          return new RegExp(pattern, "u").test(text) && count >= minLength && count <= maxLength;
        };
        const fits = acceptorOf({ type: "schema", schema: { anyOf: [{ type: "string", pattern, ...length }, { const: 1 }] } });
        expect([pattern, length, texts.filter((text) => fits(JSON.stringify(text)))]).toEqual([
          pattern,
          length,
          texts.filter(isRight),
        ]);
      }
    }
  });

  it("with numbers bound their digits, so that they end and are exact", () => {
    const digits = (schema: object, count: number): boolean => acceptorOf({ type: "schema", schema })("2".repeat(count));
    expect([digits({ type: "integer" }, 21), digits({ type: "integer" }, 22)]).toEqual([true, false]);
    expect([digits({ multipleOf: 2 }, 15), digits({ multipleOf: 2 }, 16)]).toEqual([true, false]);
  });

  it("are refused or compiled in little time, however large", () => {
    const many = <Item>(count: number, item: (index: number) => Item): readonly Item[] =>
      Array.from({ length: count }, (_, index) => item(index));
    const names = many(12, (index) => `p${index}`);
    const schemas = [
      { dependentRequired: Object.fromEntries(names.map((name, index) => [name, [names[(index + 1) % 12]]])) },
      { allOf: many(12, (index) => ({ anyOf: many(4, (value) => ({ properties: { [`a${index}`]: { const: value } } })) })) },
      { properties: Object.fromEntries(many(400, (index) => [`p${index}`, { pattern: `^[a-z]{1,${20 + index}}x.*${index}$` }])) },
      { type: "string", pattern: String.raw`^(\p{Lu}\p{Ll}*){0,100}$` },
    ];
    for (const schema of schemas)
      expect(() => acceptorOf({ type: "schema", schema })).toThrow(/needs more than \d+ (states|steps|bytes|milliseconds)/);
    const depth = amount(3000, 1500);
    const deep = JSON.parse(`${'{"items":'.repeat(depth)}{}${"}".repeat(depth)}`) as object;
    expect(acceptorOf({ type: "schema", schema: deep })("[[[1]]]")).toBe(true);
  });

  it("that refer to themselves read values of any depth", () => {
    const fits = acceptorOf({
      type: "schema",
      schema: { $defs: { tree: { type: "array", items: { $ref: "#/$defs/tree" } } }, $ref: "#/$defs/tree" },
    });
    expect([fits(`${"[".repeat(200)}${"]".repeat(200)}`), fits("[[],[[]]]"), fits("[[],1]"), fits("[[]")]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it.each([
    [{ uniqueItems: true }, "uniqueItems", ""],
    [{ properties: { a: { contains: { type: "null" } } } }, "contains", "/properties/a"],
    [{ oneOf: [{ pattern: "a" }, { pattern: "b" }] }, "oneOf", ""],
    [{ not: { pattern: "a" } }, "not", ""],
    [{ $ref: "https://example.com/schema" }, "$ref", ""],
    [{ pattern: "(a)\\1" }, "pattern", ""],
    [{ minProperties: 2 }, "minProperties", ""],
    [{ type: "nothing" }, "type", ""],
  ])("%j is refused by its keyword", (schema, keyword, pointer) => {
    expect(() => acceptorOf({ type: "schema", schema })).toThrow(
      expect.objectContaining({ code: "INPUT_INVALID", data: { refused: true, keyword, pointer } }),
    );
  });

  it.each([false, { type: "string", enum: [1] }, { required: ["a"], properties: { a: false }, type: "object" }] as const)(
    "%j has no value",
    (schema) => {
      expect(() => acceptorOf({ type: "schema", schema })).toThrow(/no text fits/);
    },
  );
});

const suite = `${sharedData}json-schema-suite/tests/draft2020-12`;
describe.skipIf(!existsSync(suite))("the official suite of JSON Schema", () => {
  const files = existsSync(suite) ? readdirSync(suite).filter((file) => file.endsWith(".json")) : [];
  interface Group {
    readonly description: string;
    readonly schema: object | boolean;
    readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
  }

  // Formats are asserted here, which the suite's own file takes for annotations.
  it.each(files.filter((file) => file !== "format.json"))("%s: what compiles agrees", (file) => {
    const groups = JSON.parse(readFileSync(`${suite}/${file}`, "utf8")) as readonly Group[];
    const wrong: string[] = [];
    for (const { description, schema, tests } of groups) {
      let fits: (text: string) => boolean;
      try {
        fits = acceptorOf({ type: "schema", schema }, { unlistedMembers: true });
      } catch (error) {
        const { data, message } = error as { data?: Record<string, unknown>; message: string };
        // Where no value is valid there is nothing to compile.
        if (data?.["keyword"] === undefined && (!message.includes("no text fits") || tests.some(({ valid }) => valid)))
          wrong.push(`${description}: ${message}`);
        continue;
      }
      for (const test of tests)
        if (fits(JSON.stringify(test.data)) !== test.valid) wrong.push(`${description}: ${test.description}`);
    }
    expect(wrong).toEqual([]);
  });
});

describe("a budget", () => {
  it("refuses with the place, the unit, the number and the limit", () => {
    const pattern = "^[a-z]{1,900}x.*y$";
    const schema = { type: "object", properties: { a: { type: "string", pattern } } };
    const compile = (limits: object, constraint: TextConstraint) => () =>
      new ConstraintBudget(limits, () => 0).run(() => compileConstraint(constraint));
    const place = { keyword: "pattern", pointer: "/properties/a" };
    const limits = { states: 500, bytes: 100_000, steps: 20_000 };
    for (const [unit, limit] of Object.entries(limits)) {
      const data = { refused: true, ...place, unit, limit, number: expect.any(Number) as number };
      expect(compile({ [unit]: limit }, { type: "schema", schema })).toThrow(
        expect.objectContaining({ code: "INPUT_INVALID", data }),
      );
    }
    const grammar = 'root ::= "a" |\n  b\nb ::= [a-z] [b-z] [c-z] [d-z]';
    expect(compile({ steps: 1500 }, { type: "grammar", grammar })).toThrow(/^line 3 of the grammar: .*more than 1500 steps/);
  });

  it("has a deadline", () => {
    let now = 0;
    const budget = new ConstraintBudget({ milliseconds: 5 }, () => (now += 3));
    const schema = { pattern: "^[a-z]{1,900}x$", maxLength: 200 };
    expect(() => budget.run(() => compileConstraint({ type: "schema", schema }))).toThrow(
      expect.objectContaining({ data: expect.objectContaining({ unit: "milliseconds", limit: 5 }) as unknown }),
    );
  });

  it("is left once nobody waits for it", () => {
    const budget = new ConstraintBudget(
      {},
      () => 0,
      () => true,
    );
    const schema = { pattern: "^[a-z]{1,900}x$", maxLength: 200 };
    expect(() => budget.run(() => compileConstraint({ type: "schema", schema }))).toThrow("nobody waits for the constraint");
  });
});

describe("grammars", () => {
  it.each([
    ['root ::= "a" | "b" root', ["a", "bba"], ["", "b", "ab"]],
    ['root ::= item ("," item)* # a list\nitem ::= [a-c]+ |\n  "(" root ")"', ["a,bc", "(a,b),c"], ["", "a,", "(a"]],
    ['start: "a" item ~ 2\n  | "b" // or\nitem.2: /[x-z]/i | ("1".."3")+ -> digits', ["axY", "a12z", "b"], ["a", "ax", "axyzz"]],
    [
      '%import common.INT\n%import common (WS, WORD -> NAME)\n%ignore WS\n?start: NAME "=" sum\n!sum: INT ["+" sum]',
      ["a=1", " ab = 1 +\n22 + 3 "],
      ["a = ", "a b=1", "a=1+"],
    ],
    ['start: "if"i _SPACE VALUE*\n_SPACE: " "\nVALUE: DIGIT+ "."?\nDIGIT: "0".."9"', ["IF 12.3", "if "], ["if", "if ."]],
    ['root ::= ("a" "" | "b" | "") ""', ["a", "b", ""], ["ab"]],
    ['root ::= "x"{2,3} [^\\n"]? .', ["xxé", "xxx\n", "xxab"], ["x", 'xx"\n\n']],
    ['root ::= "\\x41\\u00e9\\"" [-\\]a]', ['Aé"-', 'Aé"]', 'Aé"a'], ['Aé"b']],
  ])("%s", (grammar, valid, invalid) => {
    const fits = acceptorOf({ type: "grammar", grammar });
    expect(valid.filter((text) => !fits(text))).toEqual([]);
    expect(invalid.filter((text) => fits(text))).toEqual([]);
  });

  it.each([
    'root ::= root "a" | "b"',
    'start: start "a" | "b"',
    "start: other",
    "start: %declare A",
    "%import python.NAME\nstart: NAME",
    'start: "a"\nstart: "b"',
    "start: /a/x",
    'start: ("a"',
    'begin: "a"',
    "root ::= other",
    'other ::= "a"',
    'root ::= "a',
    'root ::= ("a"',
    "root ::= [b-a]",
    'root ::= "a"{3,2}',
  ])("%s is refused", (grammar) => {
    expect(() => acceptorOf({ type: "grammar", grammar })).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
  });
});
