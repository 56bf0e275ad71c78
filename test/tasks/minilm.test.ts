/** A real model on real engines, against answers made by its reference implementation. */
import { afterAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime } from "inferyard";
import { cosine, miniLmGoldens, needsData, sharedData, worst } from "../fixtures/shared-data.ts";
import { amount } from "../fixtures/slow.ts";

const model = `${sharedData}all-MiniLM-L6-v2`;
const [skip, name] = needsData("all-MiniLM-L6-v2 against sentence-transformers");

describe.skipIf(skip)(name, async () => {
  const goldens = skip ? [] : miniLmGoldens();
  const runtime: Runtime = await createRuntime({ threads: 1 });
  afterAll(() => runtime.dispose());

  it("has all 46 goldens", () => expect(goldens).toHaveLength(46));

  it("gives the reference's token ids, cut at 256, on every golden", async () => {
    const handle = await runtime.load(model, { target: "onnx:cpu" });
    const tokenizer = await runtime.tokenizer(handle);
    for (const { text, inputIds } of goldens)
      expect(tokenizer.encode(text, { maxTokens: 256 }).ids, JSON.stringify(text)).toEqual(inputIds);
    await handle.dispose();
  });

  it.each(["onnx:cpu", "wasm"])("on %s embeddings are within 1e-5, one by one and in a batch", async (target) => {
    const step = target === "wasm" ? amount(4, 16) : amount(1, 6); // wasm is slow
    const own = goldens.filter((_golden, index) => index % step === 0);
    const batch = await runtime.embed(
      own.map(({ text }) => text),
      { model, target },
    );
    expect(batch.target).toBe(target === "wasm" ? "wasm:cpu" : target);
    expect(batch.decision.selected?.host).toBe("worker");
    for (const [index, { text, normalized }] of own.entries()) {
      expect(worst(batch.embeddings[index]!, normalized), `batch: ${JSON.stringify(text.slice(0, 40))}`).toBeLessThan(1e-5);
      const single = await runtime.embed(text, { model, target });
      expect(worst(single.embeddings[0]!, normalized), `single: ${JSON.stringify(text.slice(0, 40))}`).toBeLessThan(1e-5);
    }
  });

  it("the int8 variant stays within its stated tolerance: cosine 0.97 at least, 0.985 on average", async () => {
    const cosines: number[] = [];
    const own = goldens.filter((_golden, index) => index % amount(1, 6) === 0);
    for (const { text, normalized } of own) {
      const { embeddings } = await runtime.embed(text, { model, target: "onnx:cpu", variant: "int8" });
      cosines.push(cosine(embeddings[0]!, normalized));
    }
    expect(Math.min(...cosines)).toBeGreaterThan(0.97);
    expect(cosines.reduce((sum, value) => sum + value, 0) / cosines.length).toBeGreaterThan(0.985);
  });

  it("evidence is onnxruntime's own profile", async () => {
    const { decision } = await runtime.embed("hello", { model, target: "onnx:cpu" });
    expect(decision.selected?.evidence.join()).toMatch(/profile of the first run: \d+ nodes on CPUExecutionProvider/);
  });
});
