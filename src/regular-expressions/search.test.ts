/** Held against JavaScript's own engine, which searches with backtracking, on expressions and texts made by chance. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { amount } from "../../test/fixtures/slow.ts";
import { createPattern, regexPattern } from "../tokenizers/pattern.ts";
import { parseRegex } from "./parse.ts";
import { compileRegex } from "./automaton.ts";
import { RegexSearch } from "./search.ts";
import { type RegexNode, emptyNode } from "./syntax.ts";

/** The same expression for JavaScript's engine. */
function inJavaScript(node: RegexNode): string {
  switch (node.kind) {
    case "set":
      return node.source;
    case "sequence":
      return `(?:${node.parts.map(inJavaScript).join("")})`;
    case "alternatives":
      return `(?:${node.options.map(inJavaScript).join("|")})`;
    case "repeat": {
      const { min, max, greedy } = node;
      return `(?:${inJavaScript(node.body)}){${min},${max === Infinity ? "" : max}}${greedy ? "" : "?"}`;
    }
    case "lookahead":
      return `(?${node.negated ? "!" : "="}${inJavaScript(node.body)})`;
    case "lookbehind":
      return `(?<${node.negated ? "!" : "="}${inJavaScript(node.set)})`;
  }
}

const backtracking = (node: RegexNode) => {
  const pattern = regexPattern(new RegExp(inJavaScript(node), "gu"));
  // V8 finds empty matches of lookarounds between the halves of a surrogate pair, against ECMAScript.
  return (text: string) => {
    const found = pattern(text);
    const inPair = (at: number) => at > 0 && (text.codePointAt(at - 1) ?? 0) > 0xffff;
    return found.filter((at, index) => !inPair(at) || found[index ^ 1] !== at);
  };
};
const linear = (node: RegexNode) => {
  const search = new RegexSearch(compileRegex(node));
  return (text: string) => search.matches(text);
};

const sets = fc.constantFrom("a", "b", "[ab]", "[^a]", "\\p{L}", "\\p{Nd}", "\\s", "[^\\n]", "[^]", "\\u{1f600}");
const setNodes = sets.map((source) => ({ kind: "set", source, flag: "u" }) as const);
const { node: nodes } = fc.letrec<{ node: RegexNode }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    setNodes,
    fc.array(tie("node"), { maxLength: 3 }).map((parts) => ({ kind: "sequence", parts }) as const),
    fc.array(tie("node"), { minLength: 1, maxLength: 3 }).map((options) => ({ kind: "alternatives", options }) as const),
    fc
      .record({
        body: tie("node"),
        min: fc.nat(2),
        more: fc.constantFrom(0, 1, 2, Infinity),
        greedy: fc.boolean(),
      })
      .map(({ body, min, more, greedy }) => ({ kind: "repeat", body, min, max: min + more, greedy }) as const),
    fc.record({ kind: fc.constant("lookahead" as const), negated: fc.boolean(), body: tie("node") }),
    fc.record({ kind: fc.constant("lookbehind" as const), negated: fc.boolean(), set: setNodes }),
    fc.constant(emptyNode),
  ),
}));
const texts = fc.string({ unit: fc.constantFrom("a", "b", "1", " ", "\n", "é", "😀", "\ud83d", "\ude00"), maxLength: 12 });

describe("the search of regular expressions in linear time", () => {
  it("finds what a backtracking engine finds", () => {
    fc.assert(
      fc.property(nodes, fc.array(texts, { minLength: 1, maxLength: 8 }), (node, list) => {
        const [ours, theirs] = [linear(node), backtracking(node)];
        for (const text of list) expect(ours(text), `${inJavaScript(node)} on ${JSON.stringify(text)}`).toEqual(theirs(text));
      }),
      { numRuns: amount(3000, 600) },
    );
  });

  /** Pre-tokenizers of published models. */
  const published = [
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+",
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
    " {2,}",
    "<\\|startoftext\\|>|<\\|endoftext\\|>|'s|'t|'re|'ve|'m|'ll|'d|[\\p{L}]+|[\\p{N}]|[^\\s\\p{L}\\p{N}]+",
  ];

  it("finds in texts of all kinds what a backtracking engine finds, for the expressions of published models", () => {
    const units = fc.oneof(
      fc.constantFrom(
        "'s",
        "'LL",
        " ",
        "  ",
        "\n",
        "\r\n",
        "\t",
        "a",
        "B",
        "é",
        "e\u0301",
        "東",
        "ひ",
        "7",
        "½",
        "!",
        "/",
        "<|",
        "😀",
        "\u00a0",
      ),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 1 }),
    );
    const pairs = published.map((regex) => [createPattern({ regex }), backtracking(parseRegex(regex))] as const);
    fc.assert(
      fc.property(fc.string({ unit: units, maxLength: 60 }), (text) => {
        for (const [index, [ours, theirs]] of pairs.entries()) expect(ours(text), published[index]).toEqual(theirs(text));
      }),
      { numRuns: amount(1000, 200) },
    );
  });

  it.each([
    ["(a+)+$", "a", "b"],
    ["(a|a)*b", "a", ""],
    ["(a|aa)+$", "a", "b"],
    ["a*b|a", "a", ""],
    ["\\s+$", " ", "x"],
    ["\\s+(?!\\S)|\\s+", " ", "x"],
    ["(?=(?:a*)*b)a|a", "a", ""],
    [".*.*.*=.*", "a", ""],
    ["(\\p{L}+\\p{M}*)+\\d", "é", ""],
  ])("takes time in proportion to the text for %j", { timeout: 20_000 }, (regex, unit, end) => {
    const pattern = createPattern({ regex });
    const size = 400_000;
    expect(pattern(unit.repeat(size) + end).length).toBeLessThanOrEqual(2 * size + 4);
  });

  it("reads a quantifier that is possessive over one set of characters", () => {
    expect(createPattern({ regex: "a++b?+|[ab]*+c" })("aabcbc")).toEqual([0, 3, 3, 4, 4, 6]);
    expect(createPattern({ regex: "a++a" })("aaa")).toEqual([]);
  });

  it.each([
    ["(a)\\1", "\\1"],
    ["(?<=a+)b", "lookbehind"],
    ["(?>ab|a)b", "atomic group"],
    ["(?:ab)*+", "atomic group"],
    ["(?:a{1000}){1000}", "states"],
    ["a{5000}", "5000 times"],
    ["(".repeat(300) + ")".repeat(300), "nested"],
    ["a".repeat(20_000), "20000 characters"],
    ["*a", "nothing before it"],
    ["(?:){999999999}", "999999999 times"],
  ])("refuses %.40j, and names it", (regex, reason) => {
    expect(() => createPattern({ regex })).toThrow(reason);
    expect(() => createPattern({ regex })).toThrow(JSON.stringify(regex).slice(0, 100).replace(/"$/, ""));
  });

  it("refuses a text for which the automaton would take too much memory, and goes on with the next", () => {
    // Which of the 600 characters behind a position are b: 2^600 sets of states.
    const pattern = createPattern({ regex: "[ab]{600}b" });
    let seed = 1;
    const random = Array.from({ length: 60_000 }, () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % 2 === 0 ? "a" : "b";
    });
    expect(() => pattern(random.join(""))).toThrow("32 MiB of memory");
    expect(pattern("a".repeat(600) + "b")).toEqual([0, 601]);
  });
});
