/** Texts longer than a model reads, on real models: what embed says of their windows, held against the windows run by hand. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime } from "inferyard";
import { meanRows, tokenVectors } from "./fixtures/token-vectors.ts";
import { needsData, sharedData, worst } from "../fixtures/shared-data.ts";

const page = readFileSync(fileURLToPath(new URL("../../docs/guide/embedding.md", import.meta.url)), "utf8");
const [skip, name] = needsData("windows");

it("static embeddings in windows are what they are whole", async () => {
  const runtime = await createRuntime({ host: "inline", threads: 1 });
  const text = page.slice(0, 1500);
  const whole = await runtime.embed(text);
  const { embeddings, windows, tokens } = await runtime.embed(text, { maxTokens: 50, truncate: "windows" });
  expect(windows![0]).toBe(Math.ceil(whole.tokens[0]! / 50));
  expect(tokens).toEqual(whole.tokens);
  expect(worst(embeddings[0]!, whole.embeddings[0]!)).toBeLessThan(1e-6);
  await runtime.dispose();
});

describe.skipIf(skip)(name, () => {
  let runtime: Runtime;
  beforeAll(async () => (runtime = await createRuntime({ target: "onnx:cpu", host: "inline", threads: 1 })));
  afterAll(() => runtime.dispose());

  it.each([
    ["tiny-random-bert", 64, 0, false],
    ["tiny-random-bert", 64, 16, false],
    ["all-MiniLM-L6-v2", 256, 0, true],
  ])("%s, windows of %i tokens, stride %i", async (model, limit, stride, unit) => {
    const handle = await runtime.load(`${sharedData}${model}`);
    const text = page.slice(0, 2500).replaceAll("\n", " ");
    const tokenizer = await runtime.tokenizer(handle);
    const { ids } = tokenizer.encode(text, { maxTokens: Number.POSITIVE_INFINITY });
    const [first, last, content] = [ids[0]!, ids.at(-1)!, ids.slice(1, -1)];
    const room = limit - 2;
    const sum = new Float64Array(model === "tiny-random-bert" ? 32 : 384);
    let runs = 0;
    let read = 0;
    let tokens = 0;
    for (let from = 0; read < content.length; from = read - stride, runs += 1) {
      const own = [first, ...content.slice(from, from + room), last];
      const vectors = await tokenVectors(handle, own);
      const to = Math.min(from + room, content.length);
      for (const [axis, value] of meanRows(vectors, sum.length, 0, own.length).entries()) sum[axis]! += (to - read) * value;
      read = to;
      tokens += own.length;
    }
    const length = unit ? Math.hypot(...sum) : content.length;
    const result = await runtime.embed(text, { model: handle, pooling: "mean", truncate: "windows", stride });
    expect(runs).toBeGreaterThan(2);
    expect([result.windows, result.tokens, result.truncated]).toEqual([[runs], [tokens], []]);
    expect(
      worst(
        result.embeddings[0]!,
        Float32Array.from(sum, (value) => value / length),
      ),
    ).toBeLessThan(1e-5);
  });
});
