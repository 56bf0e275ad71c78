import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { answerOptions } from "../tasks/question-answering/answer-options.ts";
import { chunkOptions } from "../tasks/chunking/chunk-options.ts";
import { classifyOptions } from "../tasks/classification/classify-options.ts";
import { embedOptions } from "../tasks/embedding/embed-options.ts";
import type { OptionTable } from "../runtime/options/option.ts";
import { addOptionFlags, optionsFromFlags } from "./option-flags.ts";

function read<Options>(table: OptionTable<Options>, ...words: string[]): Partial<Options> {
  const command = addOptionFlags(new Command().exitOverride().configureOutput({ writeErr: () => undefined }), table);
  command.parse(words, { from: "user" });
  return optionsFromFlags(table, command.opts());
}

describe("flags made from the options of a task", () => {
  it("give the options their values, by the type of each", () => {
    expect(read(classifyOptions, "--top-k", "3", "--labels", "a, b", "--template", "On {}.", "--multi-label")).toEqual({
      topK: 3,
      labels: ["a", "b"],
      hypothesisTemplate: "On {}.",
      multiLabel: true,
    });
    expect(read(chunkOptions, "--overlap", "0", "--threshold", "0.5")).toEqual({ overlapTokens: 0, threshold: 0.5 });
  });

  it("set nothing where they are not given", () => {
    expect(read(embedOptions)).toEqual({});
  });

  it("--no-x sets x to false, or an option of another name to true", () => {
    expect(read(embedOptions, "--no-normalize")).toEqual({ normalize: false });
    expect(read(answerOptions)).toEqual({ noAnswer: false, alignToWords: true });
    expect(read(answerOptions, "--no-answer", "--no-align-to-words")).toEqual({ noAnswer: true, alignToWords: false });
  });

  it("refuse what the option cannot be", () => {
    expect(() => read(classifyOptions, "--top-k", "0")).toThrow(/whole number above 0/);
    expect(() => read(chunkOptions, "--strategy", "other")).toThrow(/Allowed choices are fixed/);
  });
});
