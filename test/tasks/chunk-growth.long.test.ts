/** Chunking takes time in proportion to the text, whatever the text: what takes the square of it does not end within these tests. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime } from "../../src/index.ts";
import { amount } from "../fixtures/slow.ts";

const units: Readonly<Record<string, string>> = {
  "combining marks": "\u0301",
  "marks of two classes": "\u0323\u0301",
  "zero-width joiners": "👩\u200d",
  "regional indicators": "🇩",
  "prepended marks": "\u0600",
  "a mark on each space": " \u0301",
  "a mark before each space": "\u0600 ",
  "Hangul jamo": "\u1100\u1161\u11a8",
  conjuncts: "क\u094d",
  "high surrogates alone": "\ud83d",
  "low surrogates alone": "\ude00",
  spaces: " ",
  tabs: "\t",
  "line ends": "\r\n",
  "no separator": "a",
  Han: "東",
  "full stops": ". ",
  "table cells": "|-",
  headings: "# a\n",
  fences: "```\n",
  "lists in fences": "~~~\n- ",
  "lists with blank lines": "- a\n\n",
  brackets: "{\n",
};
/** What takes the square of 100,000 characters takes minutes. */
const long = amount(200_000, 100_000);
const texts: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(units).map(([name, unit]) => [name, unit.repeat(Math.floor(long / unit.length))])),
  "one word and marks": `a\n${"\u0301".repeat(long)}`,
  "a table rule of spaces": `x|\n${" ".repeat(long)}x|\n`,
  "a table rule that ends otherwise": `x|\n-|-${" ".repeat(long)}x|\n`,
  "a fence that goes on": `${"`".repeat(long)} \`\n`,
};

describe(`chunking a text of ${long} characters`, () => {
  let runtime: Runtime;
  beforeAll(async () => (runtime = await createRuntime({ threads: 1 })));
  afterAll(() => runtime.dispose());

  it.each(Object.keys(texts))("of %s ends, with nothing lost", { timeout: 60_000 }, async (name) => {
    const text = texts[name] ?? "";
    for (const strategy of ["fixed", "markdown", "code"] as const) {
      const { results } = await runtime.chunk(text, { strategy });
      expect(results[0]?.chunks.map((chunk) => chunk.text).join("") === text).toBe(true);
    }
  });
});
