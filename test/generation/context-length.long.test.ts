/** The context of a language model and the memory: refused with the numbers, shortened where that is allowed, limited where it is asked for. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Runtime, createRuntime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { rewriteGguf } from "../fixtures/models/rewrite-gguf.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const [skip, title] = needsData("tinyllm");
const trained = `${sharedData}tinyllm/tinyllm.gguf`;
const continuation = ", there was a little girl named Lily. She";

describe.skipIf(skip)(`${title}: the context and the memory`, () => {
  const directory = mkdtempSync(join(tmpdir(), "inferyard-context-"));
  /** The same model with a context of ten million tokens, for which a cache takes gigabytes. */
  const huge = join(directory, "huge.gguf");
  /** With as much memory as there is. */
  let runtime: Runtime;
  /** With little of it. */
  let limited: Runtime;
  let loads = 0;

  beforeAll(async () => {
    runtime = await createRuntime({ host: "inline", threads: 1 });
    limited = await createRuntime({
      host: "inline",
      threads: 1,
      maxMemory: "200MB",
      onEvent: ({ type }) => (loads += Number(type === "loading")),
    });
    if (!skip) await rewriteGguf(trained, huge, { "llama.context_length": { type: "uint32", value: 10_000_000 } });
  });
  afterAll(() => Promise.all([runtime.dispose(), limited.dispose()]));

  it.each(["llamacpp:cpu", "native:cpu"])(
    "a model whose context does not fit is refused on %s before it is loaded, with the numbers",
    async (target) => {
      loads = 0;
      const refused = limited.generate("Once upon a time", { model: huge, target });
      await expect(refused).rejects.toMatchObject({ code: "BACKEND_UNAVAILABLE" });
      await expect(refused).rejects.toThrow(
        /a context of 10,000,000 tokens needs [\d,]+ MB .*cache [\d,]+ MB at [\d,]+ bytes a token.* maxMemory is 200 MB/,
      );
      expect(loads).toBe(0);
      await expect(refused).rejects.toMatchObject({
        remedy: expect.stringMatching(/contextLength to at most \d+, or allowSmallerContext/),
      });
    },
  );

  it.each(["llamacpp:cpu", "native:cpu"])(
    "allowSmallerContext loads it on %s, and the decision says what was given up",
    async (target) => {
      const { results, decision } = await limited.generate("Once upon a time", {
        model: huge,
        allowSmallerContext: true,
        target,
        maxNewTokens: 12,
        temperature: 0,
      });
      expect(results[0]?.text).toBe(continuation);
      expect(decision.selected?.givenUp).toMatch(
        /^the context is [\d,]+ tokens instead of 10,000,000: a context of 10,000,000 tokens needs/,
      );
      expect(decision.candidates.find(({ verdict }) => verdict === "selected")?.reason).toContain(decision.selected?.givenUp);
    },
  );

  it.each(["llamacpp:cpu", "native:cpu"])("contextLength limits prompt and answer together on %s", async (target) => {
    const limit = { model: trained, target, contextLength: 32 };
    const { results } = await runtime.generate("Once upon a time", { ...limit, maxNewTokens: 200, temperature: 0 });
    const [text] = results;
    expect(text?.finishReason).toBe("length");
    expect((text?.promptTokens ?? 0) + (text?.tokens.length ?? 0)).toBe(32);
    await expect(runtime.generate("word ".repeat(60), limit)).rejects.toMatchObject({
      code: "INPUT_TOO_LONG",
    });
  });

  it.each(["llamacpp:cpu", "native:cpu"])(
    "contextLength may be one token on %s: the model is loaded and verified",
    async (target) => {
      const model = await runtime.load(trained, { kind: "language", target, contextLength: 1 });
      const sequence = await model.language?.createSequence();
      const [logits] = (await model.language?.decode([{ sequence: sequence ?? -1, tokens: [1] }])) ?? [];
      expect(logits?.every(Number.isFinite)).toBe(true);
      await model.dispose();
    },
  );

  it("a context longer than the model's own is refused, unless a smaller one is allowed", async () => {
    const longer = { model: trained, contextLength: 4096, maxNewTokens: 12, temperature: 0 } as const;
    await expect(runtime.generate("Once upon a time", longer)).rejects.toThrow(
      /contextLength asks for 4,096 tokens, and the model's context is 128/,
    );
    const { decision } = await runtime.generate("Once upon a time", { ...longer, allowSmallerContext: true });
    expect(decision.selected?.givenUp).toBe("the context is 128 tokens instead of 4,096: the model's own is no longer");
  });

  it("cachePrecision fp16 halves the cache on native, whose text is that of llamacpp with the same caches", async () => {
    const options = { model: trained, cachePrecision: "fp16", maxNewTokens: 20, temperature: 0 } as const;
    const [native, llama] = [
      await runtime.generate("Once upon a time", { ...options, target: "native" }),
      await runtime.generate("Once upon a time", { ...options, target: "llamacpp" }),
    ];
    expect(native.results[0]?.text).toMatch(new RegExp(`^${continuation}`));
    expect(native.results[0]?.text).toBe(llama.results[0]?.text);
    const half = await runtime.load(trained, { kind: "language", target: "native", cachePrecision: "fp16" });
    const single = await runtime.load(trained, { kind: "language", target: "native", cachePrecision: "fp32" });
    const [bytes, all] = [half, single].map(({ language }) => language?.limits.cacheBytesPerToken ?? 0);
    expect(bytes).toBe((all ?? 0) / 2);
    await half.dispose();
    await single.dispose();
  });

  it("cachePrecision is refused by name where an engine does not have it", async () => {
    const options = { model: `${sharedData}tiny-random-bart`, cachePrecision: "fp16", maxNewTokens: 4 } as const;
    await expect(runtime.generate("A text.", { ...options, target: "onnx" })).rejects.toThrow(/cachePrecision/);
    await expect(runtime.generate("A text.", { ...options, target: "native" })).rejects.toThrow(
      "native keeps caches of ONNX models with an encoder in fp32, not in fp16",
    );
  });
});
