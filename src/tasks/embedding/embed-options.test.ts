import { describe, expect, it } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import type { Manifest, TextSettings } from "../../models/manifest.ts";
import { type EmbedOptions, type EmbedSettings, embedSettings } from "./embed-options.ts";

const plainText: TextSettings = {
  tokenizerPath: "/m/tokenizer.json",
  tokenizerShown: "m/tokenizer.json",
  tokenizerConfig: {},
  maxTokens: 256,
  specialTokens: true,
  dropUnknown: false,
  lowercase: false,
  pooling: "cls",
  poolPrompt: true,
  normalize: true,
  prompts: {},
};

function manifestWith(text: Partial<TextSettings> | null): Manifest {
  return {
    reference: "./m",
    name: "m",
    directory: "/m",
    source: "huggingface",
    tasks: [],
    variants: [],
    selection: { backends: [], fallbacks: [] },
    requirements: {},
    ...(text === null ? {} : { text: { ...plainText, ...text } }),
  };
}

const settingsOf = (options: EmbedOptions, text: Partial<TextSettings> = {}): EmbedSettings =>
  embedSettings(manifestWith(text), options);

function refusal(work: () => unknown): InferyardError {
  try {
    work();
  } catch (error) {
    if (error instanceof InferyardError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}

describe("defaults come from the model's own files", () => {
  it("pooling, normalization and length limit are the model's", () => {
    expect(settingsOf({})).toEqual({
      pooling: "cls",
      poolPrompt: true,
      normalize: true,
      promptText: "",
      dimensions: undefined,
      maxTokens: 256,
      truncate: "cut",
      stride: 0,
      batchTokens: 512,
    });
  });

  it("a model that says nothing of pooling leaves it open: nothing is guessed", () => {
    const { pooling: _pooling, ...silent } = plainText;
    expect(embedSettings({ ...manifestWith({}), text: silent }, {}).pooling).toBeUndefined();
  });

  it("a caller's pooling and normalization hold over the model's", () => {
    expect(settingsOf({ pooling: "max", normalize: false })).toMatchObject({ pooling: "max", normalize: false });
    expect(settingsOf({ normalize: true }, { normalize: false }).normalize).toBe(true);
  });

  it("vectors of single tokens are not scaled", () => {
    expect(settingsOf({ pooling: "none" }).normalize).toBe(false);
    expect(refusal(() => settingsOf({ pooling: "none", normalize: true })).message).toContain("cannot be combined");
  });

  it("a caller can shorten the limit, never lengthen it; without any limit there is none", () => {
    expect(settingsOf({ maxTokens: 10 }).maxTokens).toBe(10);
    expect(settingsOf({ maxTokens: 9999 }).maxTokens).toBe(256);
    const { maxTokens: _limit, ...unlimited } = plainText;
    expect(embedSettings({ ...manifestWith({}), text: unlimited }, {}).maxTokens).toBe(Number.POSITIVE_INFINITY);
    expect(embedSettings({ ...manifestWith({}), text: unlimited }, { maxTokens: 9999 }).maxTokens).toBe(9999);
  });
});

describe("prompts", () => {
  const prompts = { query: "search: ", passage: "text: ", clustering: "cluster: " };

  it("without one asked for, the model's default prompt is taken, if it has one", () => {
    expect(settingsOf({}, { prompts }).promptText).toBe("");
    expect(settingsOf({}, { prompts, defaultPrompt: "query" }).promptText).toBe("search: ");
  });

  it("by name, and a document prompt under the names sentence-transformers knows", () => {
    expect(settingsOf({ prompt: "query" }, { prompts }).promptText).toBe("search: ");
    expect(settingsOf({ prompt: "clustering" }, { prompts }).promptText).toBe("cluster: ");
    expect(settingsOf({ prompt: "document" }, { prompts }).promptText).toBe("text: ");
    expect(settingsOf({ prompt: "document" }, { prompts: { ...prompts, document: "doc: " } }).promptText).toBe("doc: ");
    expect(settingsOf({ prompt: "document" }, { prompts: { corpus: "corpus: " } }).promptText).toBe("corpus: ");
  });

  it("an empty prompt of the model is a prompt", () => {
    expect(settingsOf({ prompt: "document" }, { prompts: { document: "" } }).promptText).toBe("");
  });

  it("an unknown name is refused, and the nearest named", () => {
    const error = refusal(() => settingsOf({ prompt: "qeury" }, { prompts }));
    expect(error.code).toBe("INPUT_INVALID");
    expect(error.message).toBe('m has no prompt "qeury"');
    expect(error.remedy).toBe('did you mean "query"? It has query, passage, clustering');
    expect(refusal(() => settingsOf({ prompt: "zzzzzz" }, { prompts })).remedy).toBe("choose one of query, passage, clustering");
  });

  it("any name is refused where the model has none, names of Object's own included", () => {
    expect(refusal(() => settingsOf({ prompt: "query" })).message).toContain("m has no prompts");
    expect(refusal(() => settingsOf({ prompt: "toString" }, { prompts })).code).toBe("INPUT_INVALID");
  });
});

describe("what is refused", () => {
  it("a pooling that is none names those there are", () => {
    const error = refusal(() => settingsOf({ pooling: "avg" as never }));
    expect([error.code, error.message, error.remedy]).toEqual([
      "INPUT_INVALID",
      'pooling is "avg"',
      "choose one of mean, cls, max, last, none",
    ]);
  });

  it.each(["dimensions", "maxTokens", "batchTokens"] as const)("%s must be a whole number above 0", (key) => {
    for (const value of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "7" as never]) {
      const error = refusal(() => settingsOf({ [key]: value }));
      expect(error.code).toBe("INPUT_INVALID");
      expect(error.message).toContain(`${key} is ${value}`);
    }
  });

  it("a model without a tokenizer cannot take text", () => {
    const error = refusal(() => embedSettings(manifestWith(null), {}));
    expect([error.code, error.message]).toEqual(["MODEL_UNSUPPORTED", "m has no tokenizer, so it cannot take text"]);
  });
});
