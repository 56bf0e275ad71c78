import { describe, expect, it } from "vitest";
import { type OptionTable, boolean, checkOptions, choice, positiveInteger, textOption, zeroOrMore } from "./option.ts";

interface Options {
  readonly count?: number;
  readonly overlap?: number;
  readonly how?: string;
  readonly whole?: boolean;
  readonly words?: string;
}

const table: OptionTable<Options> = {
  count: { type: positiveInteger },
  overlap: { type: zeroOrMore },
  how: { type: choice(["cut", "error"]) },
  whole: { type: boolean },
  words: { type: textOption },
};

describe("options of a task", () => {
  it("may be left out or undefined", () => {
    expect(() => checkOptions(table, {})).not.toThrow();
    expect(() => checkOptions(table, { count: undefined })).not.toThrow();
    expect(() => checkOptions(table, { count: 1, overlap: 0, how: "cut", whole: false, words: "" })).not.toThrow();
  });

  it.each([
    [{ count: 0 }, "count is 0, and must be a whole number above 0"],
    [{ count: "2" }, "count is 2, and must be a whole number above 0"],
    [{ overlap: -1 }, "overlap is -1, and must be a whole number from 0"],
    [{ overlap: 0.5 }, "overlap is 0.5, and must be a whole number from 0"],
    [{ how: "fold" }, 'how is "fold"'],
    [{ whole: "yes" }, 'whole is "yes"'],
  ])("%o is refused", (options, message) => {
    expect(() => checkOptions(table, options)).toThrow(message);
  });
});
