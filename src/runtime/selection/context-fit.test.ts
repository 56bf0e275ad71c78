import { describe, expect, it } from "vitest";
import { type ContextNeed, fitContext } from "./context-fit.ts";

const need: ContextNeed = {
  cache: { contextLength: 10_000, bytesPerToken: 1000, computeBytes: 1e6 },
  engineBytes: 9e6,
  availableBytes: 20e6,
  pool: "maxMemory",
  contextLength: undefined,
  allowSmallerContext: false,
};

describe("the context of a language model", () => {
  it("fits with the model's own context, to the byte", () => {
    expect(fitContext(need)).toEqual({});
    expect(fitContext({ ...need, availableBytes: 20e6 - 1 }).refusal).toMatchObject({
      stage: "requirement",
      reason:
        "a context of 10,000 tokens needs 20 MB (weights and engine 10 MB, cache 10 MB at 1,000 bytes a token) and maxMemory is 20 MB",
      remedy: "set contextLength to at most 7936, or allowSmallerContext",
    });
  });

  it("fits where fewer tokens are asked for", () => {
    expect(fitContext({ ...need, availableBytes: 15e6, contextLength: 5000 })).toEqual({});
  });

  it("is shortened to what fits, less a tenth of the memory", () => {
    const { shortened } = fitContext({ ...need, availableBytes: 15e6, allowSmallerContext: true });
    expect(shortened?.contextLength).toBe(3328);
    expect(shortened?.sentence).toMatch(/^the context is 3,328 tokens instead of 10,000: a context of 10,000 tokens needs 20 MB/);
  });

  it("is not shortened to next to nothing: then the model does not fit", () => {
    const { refusal } = fitContext({ ...need, availableBytes: 11.3e6, allowSmallerContext: true });
    expect(refusal?.reason).toMatch(/needs 20 MB/);
    expect(refusal?.remedy).toBeUndefined();
  });

  it("is not longer than the model's own", () => {
    const longer = { ...need, contextLength: 20_000 };
    expect(fitContext(longer).refusal).toMatchObject({
      reason: "contextLength asks for 20,000 tokens, and the model's context is 10,000",
      remedy: "set contextLength to at most 10000",
    });
    expect(fitContext({ ...longer, allowSmallerContext: true }).shortened).toEqual({
      contextLength: 10_000,
      sentence: "the context is 10,000 tokens instead of 20,000: the model's own is no longer",
    });
  });

  it("of a model that states none is what is asked for, or unlimited", () => {
    const open = { ...need, cache: { ...need.cache, contextLength: undefined } };
    expect(fitContext(open)).toEqual({});
    expect(fitContext({ ...open, contextLength: 10_000 })).toEqual({});
    expect(fitContext({ ...open, contextLength: 10_001 }).refusal?.reason).toContain("a context of 10,001 tokens needs");
  });
});
