/** Static embedding models against model2vec 0.10.0, its own rules of tokenizing and cutting included. */
import { readFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime } from "inferyard";
import { needsData, sharedData, worst } from "../fixtures/shared-data.ts";

interface Case {
  readonly text: string;
  readonly ids: number[];
  readonly normalized: number[];
}

const goldens = JSON.parse(readFileSync(new URL("../../src/backends/native/static-goldens.json", import.meta.url), "utf8")) as {
  models: { name: string; folder?: string; cases: Case[] }[];
};
const inSharedData = goldens.models.filter(({ folder }) => folder !== undefined);
const [skip, name] = needsData("static-embeddings against model2vec");

describe.skipIf(skip)(name, async () => {
  const runtime: Runtime = await createRuntime({ host: "inline", threads: 1 });
  afterAll(() => runtime.dispose());

  it("covers both variants", () =>
    expect(inSharedData.map((model) => model.name)).toEqual(["test-model-float32", "test-model-int8"]));

  it.each(inSharedData)("$name: token ids exactly, vectors within 1e-5, one by one and together", async ({ folder, cases }) => {
    const handle = await runtime.load(`${sharedData}static-embeddings/${folder}`);
    const tokenizer = await runtime.tokenizer(handle);
    const together = await runtime.embed(
      cases.map(({ text }) => text),
      { model: handle },
    );
    expect(together.target).toBe("native:cpu");
    for (const [index, { text, ids, normalized }] of cases.entries()) {
      expect(tokenizer.encode(text).ids, text.slice(0, 40)).toEqual(ids);
      const expected = Float32Array.from(normalized);
      expect(worst(together.embeddings[index]!, expected), text.slice(0, 40)).toBeLessThan(1e-5);
      expect(worst((await runtime.embed(text, { model: handle })).embeddings[0]!, expected), text.slice(0, 40)).toBeLessThan(
        1e-5,
      );
    }
    await handle.dispose();
  });
});
