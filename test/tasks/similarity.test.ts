/** Similarity of texts on real models: sentence-transformers' goldens, and what the model's files say of the metric. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime } from "inferyard";
import { cosine, miniLmGoldens, needsData, sharedData } from "../fixtures/shared-data.ts";

let runtime: Runtime;
beforeAll(async () => (runtime = await createRuntime({ host: "inline", threads: 1 })));
afterAll(() => runtime.dispose());

describe("builtin", () => {
  const texts = ["a cat sat on the mat", "stocks fell", ""];

  it("each with each: symmetric, 1 on the diagonal, 0 for a text without words", async () => {
    const { scores, metric, target } = await runtime.similarity(texts, texts);
    expect([metric, target]).toEqual(["cosine", "native:cpu"]);
    for (const [row, values] of scores.entries())
      for (const [column, score] of values.entries()) {
        expect(score).toBeCloseTo(scores[column]![row]!, 6);
        const withoutWords = row === 2 || column === 2;
        expect(withoutWords ? score : 0).toBe(0);
        expect(row === column && !withoutWords ? score : 1).toBeCloseTo(1, 6);
      }
  });

  it("is what the embeddings say, by every metric; distances are negative", async () => {
    const others = ["a kitten", "the market crashed", "trains", "x", "y"];
    const [a, b] = [(await runtime.embed(texts)).embeddings, (await runtime.embed(others)).embeddings];
    const pairs = (of: (x: Float32Array, y: Float32Array) => number): number[][] => a.map((x) => b.map((y) => of(x, y)));
    const sum = (x: Float32Array, term: (value: number, axis: number) => number): number =>
      x.reduce((total, value, axis) => total + term(value, axis), 0);
    const expected = {
      dot: pairs((x, y) => sum(x, (value, axis) => value * y[axis]!)),
      euclidean: pairs((x, y) => -Math.sqrt(sum(x, (value, axis) => (value - y[axis]!) ** 2))),
      manhattan: pairs((x, y) => -sum(x, (value, axis) => Math.abs(value - y[axis]!))),
    };
    for (const metric of ["dot", "euclidean", "manhattan"] as const) {
      const { scores } = await runtime.similarity(texts, others, { metric });
      for (const [row, values] of scores.entries())
        for (const [column, score] of values.entries()) expect(score).toBeCloseTo(expected[metric][row]![column]!, 4);
    }
  });

  it("empty lists make an empty matrix, of the right shape", async () => {
    expect((await runtime.similarity([], ["a"])).scores).toEqual([]);
    expect((await runtime.similarity(["a"], [])).scores).toEqual([new Float32Array()]);
    expect((await runtime.similarity("a", "a")).scores[0]?.[0]).toBeCloseTo(1, 6);
  });

  it("odd texts get numbers", async () => {
    const { scores } = await runtime.similarity(["\ud800", "\u0000", "a".repeat(100_000)], ["a cat"]);
    expect(scores.flatMap((row) => [...row]).every(Number.isFinite)).toBe(true);
  });

  it.each([
    [{ metric: "cosinus" }, 'metric is "cosinus"'],
    [{ pooling: "none" }, "gives one per token"],
    [{ otherPrompt: "query" }, "has no prompts"],
    [{ otherprompt: "query" }, '"otherprompt"'],
  ])("%j is refused", async (options, words) => {
    await expect(runtime.similarity("a", "b", options as never)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining(words) as string,
    });
  });

  it("a matrix that no memory holds is refused before anything is embedded", async () => {
    const many = Array.from({ length: 20_000 }, () => "a");
    await expect(runtime.similarity(many, many)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      remedy: "compare the texts in several calls",
    });
  });

  it("a cancelled call stops", async () => {
    const given = AbortSignal.abort();
    await expect(runtime.similarity(["a"], ["b"], { signal: given })).rejects.toMatchObject({ code: "ABORTED" });
  });
});

const [skip, name] = needsData("similarity of real models");
describe.skipIf(skip)(name, () => {
  const miniLm = `${sharedData}all-MiniLM-L6-v2`;
  const folder = mkdtempSync(join(tmpdir(), "inferyard-similarity-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  const withConfig = (place: string, config: object): string => {
    const copy = join(folder, place);
    cpSync(`${sharedData}tiny-random-bert`, copy, { recursive: true });
    const modules = [
      { idx: 0, name: "0", path: "", type: "sentence_transformers.models.Transformer" },
      { idx: 1, name: "1", path: "1_Pooling", type: "sentence_transformers.models.Pooling" },
    ];
    writeFileSync(join(copy, "modules.json"), JSON.stringify(modules));
    cpSync(`${miniLm}/1_Pooling`, join(copy, "1_Pooling"), { recursive: true });
    writeFileSync(join(copy, "config_sentence_transformers.json"), JSON.stringify(config));
    return copy;
  };

  it("all-MiniLM-L6-v2: the cosines of sentence-transformers' own vectors", async () => {
    const goldens = miniLmGoldens().slice(0, 9);
    const texts = goldens.map(({ text }) => text);
    const { scores, metric } = await runtime.similarity(texts, texts.toReversed(), { model: miniLm });
    expect(metric).toBe("cosine");
    for (const [row, values] of scores.entries())
      for (const [column, score] of values.entries())
        expect(score).toBeCloseTo(cosine(goldens[row]!.normalized, goldens.at(-1 - column)!.normalized), 4);
  });

  it("the metric is the one the model's files name, and the caller's holds over it", async () => {
    const model = withConfig("dot", { similarity_fn_name: "dot" });
    expect((await runtime.similarity("a", "b", { model })).metric).toBe("dot");
    expect((await runtime.similarity("a", "b", { model, metric: "manhattan" })).metric).toBe("manhattan");
    expect((await runtime.similarity("a", "b", { model: withConfig("null", { similarity_fn_name: null }) })).metric).toBe(
      "cosine",
    );
    const other = withConfig("other", { similarity_fn_name: "MaxSim" });
    await expect(runtime.similarity("a", "b", { model: other })).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
  });

  it("each list has its prompt, and that of the first holds for both where no other is named", async () => {
    const model = withConfig("prompts", { prompts: { query: "query: ", document: "text: " } });
    const { embeddings: queries } = await runtime.embed(["a girl"], { model, prompt: "query" });
    const { embeddings: documents } = await runtime.embed(["a girl"], { model, prompt: "document" });
    const ask = async (options: object): Promise<number> =>
      (await runtime.similarity(["a girl"], ["a girl"], { model, prompt: "query", ...options })).scores[0]![0]!;
    expect(await ask({})).toBeCloseTo(1, 5);
    expect(await ask({ otherPrompt: "document" })).toBeCloseTo(cosine(queries[0]!, documents[0]!), 5);
    const list = ["a girl"];
    const { scores } = await runtime.similarity(list, list, { model, prompt: "query", otherPrompt: "document" });
    expect(scores[0]![0]).toBeCloseTo(cosine(queries[0]!, documents[0]!), 5);
  });
});
