/**
 * Operations that the conformance cases of ONNX lack, for the known answers of the interpreter: every construct of a pattern, every comparison of a decision tree,
 * every distribution, and inputs that must be refused. What a pattern matches is said by JavaScript's RegExp where it has the construct, and by RE2's description of
 * its syntax where it has not; the others are recorded as the interpreter computes them.
 */
import type { ElementType } from "../../src/engine/ir/element-types.ts";
import { int64Literal, type Literal, toLiteral } from "../../src/engine/ir/literal.ts";
import type { CallAttributes } from "../../src/engine/ir/operations.ts";
import type { TensorType } from "../../src/engine/ir/tensor-type.ts";
import { floats, type InterpreterCase } from "./case-builder.ts";
import { operationCases } from "./operation-cases.ts";
import { tensorCases } from "./tensor-cases.ts";

function call(
  name: string,
  attributes: CallAttributes,
  types: readonly TensorType[],
  inputs: readonly Literal[],
): InterpreterCase {
  return { operation: { kind: "call", function: name, attributes, types }, inputs };
}

function strings(...data: readonly string[]): Literal {
  return { dataType: "string", shape: [data.length], data };
}

function booleans(values: readonly boolean[]): Literal {
  return toLiteral("bool", [values.length], values.map(Number));
}

/** Texts that each pattern is tried on. */
const texts = ["", "a", "b", "ab", "aab", "abc", "aaa", "aaaa", "xxx", "a\nb", "a b", "A", "_9", "]", "a-", "\n"];

/** Patterns that mean the same in RE2 and in JavaScript. */
const sharedPatterns = [
  [
    "",
    "a|b|",
    "(ab*)+c?",
    "a{0}b",
    "a{2}",
    "a{2,}",
    "a{1,3}",
    "a{2,3}?",
    "(a?){3}a{3}",
    "(a|ab)(c|bcd)*",
    "a*?b+?",
    "a{,2}",
    "x{3}",
  ],
  ["[^a-c]+", "[\\]a-]+", "[a-]", "[b-]*a*", "\\d|\\D\\d", "\\w+", "\\W", "\\s", "\\S+", "[\\d_]+", "[^\\w]"],
  [
    "\\bab\\b",
    "a\\B.*",
    "\\ba?b?\\b",
    "^a$|.b",
    "a.b",
    "(?:a|b)+",
    "(?<name>a)b",
    "\\n",
    "\\x41",
    "a\\.?",
    "[\\n]",
    "a$b",
    "a^b",
    ".^b?|a",
  ],
  ["\\t|a", "\\f|a", "\\v|a", "\\r|a"],
].flat();

/** What RE2 has and JavaScript has not, with the texts that match. */
const patternsOfRe2: readonly (readonly [pattern: string, matching: readonly string[], others: readonly string[]])[] = [
  ["(?i)aB", ["ab", "AB", "aB"], ["a", "abc"]],
  ["a(?i:b)c", ["abc", "aBc"], ["ABc", "abC"]],
  ["(?i:[a-c]+)d", ["aBCd"], ["aBD", "xd"]],
  ["(?i)a(?-i)b", ["ab", "Ab"], ["aB"]],
  ["(?i)a(?-is)b.", ["Abc"], ["aBc", "ab\n"]],
  ["(?i)É", ["é", "É"], ["e"]],
  ["(?s)a.b", ["a\nb", "axb"], ["ab"]],
  ["(?s:.)(?-s:.)", ["\na"], ["a\n"]],
  ["(?m)^a$\n^b$", ["a\nb"], ["ab", "a\nb\n"]],
  ["(?m)a$(?s:.)^b", ["a\nb"], ["axb"]],
  ["(?s)a.^b", [], ["a\nb"]],
  ["(?s)a$.b", [], ["a\nb"]],
  ["\\p{Cc}", ["\0"], ["a"]],
  ["\\w|\\0", ["\0"], [""]],
  ["(?U)a+", ["a", "aa"], ["", "b"]],
  ["(?P<name_1>a)b", ["ab"], ["a"]],
  ["(a(?i)b|c)d", ["abd", "aBd", "Cd"], ["Abd", "aBD"]],
  ["\\Aa\\z", ["a"], ["ba", "ab"]],
  ["\\Qa.b*\\E+", ["a.b*", "a.b**"], ["axb", "a.b"]],
  ["\\Qa\\b", ["a\\b"], ["ab"]],
  ["[[:alpha:]]+\\d", ["abZ1"], ["1a", "a"]],
  ["[[:^alpha:]]", ["1"], ["a", "Z"]],
  ["[^[:digit:]x]+", ["ab"], ["1", "x"]],
  ["[[:alnum:][:space:]]+", ["a 1\t"], ["-"]],
  ["[[:word:]-]+", ["a_-"], [" "]],
  ["\\pL\\p{Greek}\\P{Lu}", ["xαy"], ["xyz", "xαY"]],
  ["\\p{^Lu}\\P{^Lu}", ["aB"], ["AB", "ab"]],
  ["\\x{1F600}\\101\\07\\0", ["😀A\u0007\0"], ["A"]],
  ["\\012\\a\\f\\t\\n\\r\\v", ["\n\u0007\f\t\n\r\v"], ["\n\u0007\f\t\n\r\n"]],
  ["\\s", [" ", "\t", "\n", "\f", "\r"], ["\v", "a", "\u000e", "\u0008"]],
  ["\\w", ["A", "Z", "a", "z", "0", "9", "_"], ["@", "[", "`", "{", "/", ":", "^"]],
  ["\\d", ["0", "9"], ["/", ":"]],
  ["[]a]+", ["a]"], ["b"]],
  ["[a-c-e]+", ["b-e"], ["d"]],
  ["{a}", ["{a}"], ["a"]],
  ["a{1000}", ["a".repeat(1000)], ["a".repeat(999)]],
  [`${"(".repeat(200)}a${")".repeat(200)}`, ["a"], ["b"]],
];

/** Patterns that RE2 refuses. */
const invalidPatterns = [
  ["(a", "a)", "[a", "a**", "a+*", "a??+", "*a", "+", "?a", "(a)\\1", "(?=a)", "\\C", "a{3,2}", "a{1001}", "a{1,1001}", "a\\"],
  [
    "(a{1000}){1000}",
    "\\p{Nobody}",
    "\\p{1}",
    "[b-a]",
    "[a-\\d]",
    "[[:nothing:]]",
    "[[:alpha",
    "(?x)a",
    "(?P<a-b>c)",
    "\\x{}",
    "\\xZZ",
  ],
  ["\\x4", "\\x{1234567}", "(?P)", "(?i", "\\18", "\\8", "(?ia)", `${"(".repeat(201)}a${")".repeat(201)}`],
].flat();

function patternCases(): readonly InterpreterCase[] {
  const matching = (pattern: string, inputs: readonly string[], matches: readonly boolean[]): InterpreterCase => ({
    ...call("regex-full-match", { pattern }, [{ dataType: "bool", shape: [inputs.length] }], [strings(...inputs)]),
    outputs: [booleans(matches)],
  });
  return [
    ...sharedPatterns.map((pattern) => {
      const javascript = new RegExp(`^(?:${pattern})$`);
      return matching(
        pattern,
        texts,
        texts.map((text) => javascript.test(text)),
      );
    }),
    ...patternsOfRe2.map(([pattern, right, wrong]) =>
      matching(
        pattern,
        [...right, ...wrong],
        [...right, ...wrong].map((_, index) => index < right.length),
      ),
    ),
    ...invalidPatterns.map((pattern) => ({
      ...call("regex-full-match", { pattern }, [{ dataType: "bool", shape: [1] }], [strings("a")]),
      outputs: [],
    })),
  ];
}

function randomCases(): readonly InterpreterCase[] {
  const drawn = (name: string, dataType: ElementType, shape: readonly number[], attributes: CallAttributes): InterpreterCase =>
    call(name, attributes, [{ dataType, shape }], []);
  return [
    ...(["float32", "float64", "float16", "bfloat16"] as const).flatMap((type) => [
      drawn("random-uniform", type, [7], { low: -1.5, high: 4, seed: 3 }),
      drawn("random-normal", type, [2, 5], { mean: 1.5, scale: 3, seed: -0.75 }),
      drawn("random-normal", type, [3], { mean: -2, scale: 0.5, seed: 12345.678 }),
    ]),
    call("multinomial", { seed: 5 }, [{ dataType: "int32", shape: [2, 9] }], [floats([2, 3], 0.5, -1, 1, 2, 2.5, -Infinity)]),
    call("multinomial", { seed: 1.25 }, [{ dataType: "int64", shape: [1, 8] }], [floats([1, 4], -3, 100, 101, 99)]),
  ];
}

function treeCases(): readonly InterpreterCase[] {
  // Two trees: one node for each comparison in a chain, and one of a single comparison; leaves with several targets.
  const chain = {
    features: [0, 1, 2, 0, 1, 2, 0, 1],
    modes: [0, 1, 2, 3, 4, 5, 6, 6],
    splits: [0.5, -0.5, 1, 0, 2, 3, 0, 0],
    yes: [1, -1, 3, -2, -3, 6, -5, -4],
    no: [2, 7, 4, -1, 5, -6, -7, -2],
    missing: [1, 0, 0, 0, 1, 0, 0, 0],
    sets: [0, 2],
    members: [0.25, 7, 3, 5],
    roots: [0, 3],
    starts: [0, 1, 3, 4, 5, 6, 8, 9],
    targets: [0, 0, 1, 1, 0, 1, 0, 1, 1],
    weights: [1, 2, -3, 4.5, 0.25, 8, -16, 32, 64],
  };
  const rows = [0.5, -0.5, 1, 0, -1, 0, 1, 2, 0.5, 3, 0, 3, 0.75, 2, 0.5, 7, 5, 4, 0.25, 3, 0, NaN, NaN, NaN, 2, 7, 3, 9, 1, 2];
  const x = floats([10, 3], ...rows);
  const ensemble = (attributes: CallAttributes, input: Literal = x): InterpreterCase =>
    call("tree-ensemble", { ...chain, ...attributes }, [{ dataType: input.dataType, shape: [input.shape[0] ?? 0, 2] }], [input]);
  return [
    ...["SUM", "AVERAGE", "MIN", "MAX"].map((aggregate) => ensemble({ aggregate })),
    ensemble({ aggregate: "AVERAGE", base: [0.5, -1] }, toLiteral("float64", [10, 3], rows)),
    { ...ensemble({ aggregate: "SUM", yes: [0, 0, 0, 0, 0, 0, 0, 0], no: [0, 0, 0, 0, 0, 0, 0, 0] }), outputs: [] }, // a cycle
    { ...ensemble({ aggregate: "SUM" }, floats([2, 2], 1, 2, 3, 4)), outputs: [] }, // a feature that is not there
    { ...ensemble({ aggregate: "SUM", yes: [8, -1, 3, -2, -3, 6, -5, -4] }), outputs: [] }, // a node that is not there
  ];
}

function textCases(): readonly InterpreterCase[] {
  const grams = {
    pool: [2, 3, 5, 4, 5, 6, 7, 8, 6, 7],
    counts: [0, 2],
    indexes: [1, 0, 2, 4, 3, 5],
    weights: [1, 0.5, 2, 3, -1, 4],
  };
  const tokens = int64Literal([2, 5, 4, 6, 7, 3, 5, 6, 7, 8, 4, 4, 5, 6], [2, 7]);
  const tfIdf = (attributes: CallAttributes, input: Literal = tokens, rows: readonly number[] = [2]): InterpreterCase =>
    call("tf-idf", { ...grams, ...attributes }, [{ dataType: "float32", shape: [...rows, 6] }], [input]);
  return [
    ...["TF", "IDF", "TFIDF"].map((mode) => tfIdf({ minGramLength: 1, maxGramLength: 2, maxSkipCount: 3, mode })),
    tfIdf({ minGramLength: 2, maxGramLength: 2, maxSkipCount: 0, mode: "TF" }),
    tfIdf(
      { minGramLength: 1, maxGramLength: 1, maxSkipCount: 5, mode: "TF" },
      toLiteral("int32", [2, 7], [2, 3, 3, 2, 9, 3, 1, 5, 2, 2, 2, 0, 1, 3]),
    ),
    tfIdf(
      { minGramLength: 1, maxGramLength: 3, maxSkipCount: 1, mode: "TFIDF", weights: [] },
      int64Literal([5, 4, 5, 6, 7, 8, 3]),
      [],
    ),
    tfIdf(
      {
        pool: ["a", "b", "c", "a", "b", "c", "a", "c", "b"],
        counts: [0, 1, 3],
        indexes: [0, 1, 2, 3],
        weights: [],
        minGramLength: 1,
        maxGramLength: 3,
        maxSkipCount: 2,
        mode: "TF",
      },
      { dataType: "string", shape: [2, 5], data: ["b", "c", "a", "c", "b", "a", "x", "c", "x", "b"] },
    ),
    call(
      "concatenate-strings",
      {},
      [{ dataType: "string", shape: [2, 3] }],
      [
        { dataType: "string", shape: [2, 1], data: ["a", "b"] },
        { dataType: "string", shape: [3], data: ["x", "", "z"] },
      ],
    ),
    call(
      "lookup",
      {},
      [{ dataType: "string", shape: [5] }],
      [floats([5], 1, NaN, 2, 7, -0), floats([4], 1, NaN, 2, 1), strings("one", "not a number", "two", "again", "unknown")],
    ),
  ];
}

function determinantCases(): readonly InterpreterCase[] {
  const determinants = (matrix: readonly number[], size: number, count: number): InterpreterCase => ({
    operation: { kind: "call", function: "determinant", attributes: {}, types: [{ dataType: "float32", shape: [count] }] },
    inputs: [floats([count, size, size], ...matrix)],
  });
  return [
    determinants([0, 2, 1, 3, 0, -1, 1, 4, 2, 1, 2, 3, 2, 4, 6, 5, 5, 1, -1, 0, 0, 0, 7, 3, 0, -5, 2], 3, 3),
    determinants([0, 0, 3, 1, 0, 5, 1, 2, 4, 1, -2, 0.5, 1, 0, 0, 0], 4, 1),
    determinants([-3], 1, 1),
  ];
}

/** All cases. */
export function interpreterCases(): readonly InterpreterCase[] {
  return [
    ...operationCases(),
    ...tensorCases(),
    ...patternCases(),
    ...randomCases(),
    ...treeCases(),
    ...textCases(),
    ...determinantCases(),
  ];
}
