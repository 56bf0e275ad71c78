/** The shape transformers.js users know, on real models. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type NamedTask,
  type Pipeline,
  type PipelineName,
  type PipelineOptions,
  createRuntime,
  embeddingRanges,
  pipeline,
} from "inferyard";
import { tokenVectors } from "./fixtures/token-vectors.ts";
import { miniLmGoldens, needsData, sharedData, worst } from "../fixtures/shared-data.ts";
import { runsAll } from "../fixtures/slow.ts";

type FeaturePipeline = Pipeline<"feature-extraction">;

const pipelines: { dispose(): Promise<void> }[] = [];
afterAll(async () => {
  await Promise.all(pipelines.map((made) => made.dispose()));
});

async function load(model?: string, options?: PipelineOptions): Promise<FeaturePipeline> {
  const extract = await pipeline("feature-extraction", model, options);
  pipelines.push(extract);
  return extract;
}

describe("pipeline", () => {
  it("without a model is the built-in one, which needs nothing else", async () => {
    const extract = await load();
    const { dims, data, target, decision } = await extract(["a cat", "ein Satz"]);
    expect(extract.task).toBe("feature-extraction");
    expect({ dims, length: data.length, target }).toEqual({ dims: [2, 256], length: 512, target: "native:cpu" });
    expect(decision.selected?.target).toBe("native:cpu");
    expect(Math.hypot(...data.subarray(0, 256))).toBeCloseTo(1, 5);
  });

  it("takes one text as a list of one, and gives nested arrays on request", async () => {
    const extract = await load();
    const [one, list] = [await extract("a cat"), await extract(["a cat"])];
    expect(one.dims).toEqual([1, 256]);
    expect(one.data).toEqual(list.data);
    expect(one.tolist()).toEqual([[...one.data]]);
    expect((await extract([])).dims).toEqual([0, 256]);
  });

  it("cuts dimensions and makes unit length after the cut", async () => {
    const extract = await load();
    const { dims, data } = await extract("a cat", { dimensions: 16 });
    expect(dims).toEqual([1, 16]);
    expect(Math.hypot(...data)).toBeCloseTo(1, 5);
    await expect(extract("a cat", { dimensions: 257 })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("refuses a task it does not know, and names those it does, or the one that was meant", async () => {
    await expect(pipeline("text-to-speech" as never)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      remedy: expect.stringContaining("feature-extraction"),
    });
    await expect(pipeline("text-clasification" as never)).rejects.toMatchObject({
      remedy: 'did you mean "text-classification"?',
    });
    await expect(pipeline("toString" as never)).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("after disposal nothing runs", async () => {
    const extract = await load();
    await extract.dispose();
    await expect(extract("a cat")).rejects.toMatchObject({ code: "DISPOSED" });
  });

  it("a model that is not there is an error of the call that makes the pipeline", async () => {
    await expect(pipeline("feature-extraction", "./no-such-model")).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
  });

  it("is cancelled by its signal", async () => {
    const extract = await load();
    await expect(extract("a cat", { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
    await expect(load("builtin", { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
  });
});

const [skip, title] = needsData("pipeline with all-MiniLM-L6-v2");
describe.skipIf(skip)(title, () => {
  it("pools and normalizes as the model's own files say, with no option given", async () => {
    const extract = await load(`${sharedData}all-MiniLM-L6-v2`, { target: "onnx:cpu" });
    const goldens = miniLmGoldens().slice(0, 12);
    const { dims, data } = await extract(goldens.map(({ text }) => text));
    expect(dims).toEqual([12, 384]);
    for (const [index, { normalized }] of goldens.entries())
      expect(worst(data.subarray(index * 384, (index + 1) * 384), normalized)).toBeLessThan(1e-5);
  });
});

const [skipTasks, tasksTitle] = needsData("pipelines of other tasks");
describe.skipIf(skipTasks)(tasksTitle, () => {
  const golden = (model: string): unknown => JSON.parse(readFileSync(`${sharedData}${model}/goldens.json`, "utf8"));
  async function use<Name extends PipelineName>(task: Name, model: string): Promise<Pipeline<NamedTask<Name>>> {
    const made = await pipeline(task, `${sharedData}${model}`, { target: "onnx:cpu" });
    pipelines.push(made);
    return made;
  }

  it("text-classification: one label a text, more on request, one list or one for each", async () => {
    const classify = await use("sentiment-analysis", "tiny-random-deberta-v3");
    expect(classify.task).toBe("text-classification");
    const { items } = golden("tiny-random-deberta-v3") as { items: { text: string; text_pair: string | null; label: string }[] };
    const texts = items.filter(({ text_pair: pair }) => pair === null);
    const best = await classify(texts.map(({ text }) => text));
    expect(best.flat().map(({ label }) => label)).toEqual(texts.map(({ label }) => label));
    expect(await classify("a cat")).toEqual([{ label: expect.any(String), score: expect.any(Number) }]);
    expect(await classify("a cat", { topK: 2 })).toHaveLength(2);
    expect(await classify(["a cat", "a dog"], { topK: 2 })).toEqual([
      [expect.anything(), expect.anything()],
      [expect.anything(), expect.anything()],
    ]);
  });

  it("zero-shot-classification: sequence, labels and scores, as transformers gave them", async () => {
    const judge = await use("zero-shot-classification", "tiny-bert-nli-untrained");
    const { zero_shot: cases } = golden("tiny-bert-nli-untrained") as {
      zero_shot: {
        text: string;
        candidate_labels: string[];
        hypothesis_template: string;
        multi_label: boolean;
        labels: string[];
        scores: number[];
      }[];
    };
    for (const one of cases) {
      const options = { hypothesisTemplate: one.hypothesis_template, multiLabel: one.multi_label };
      const { sequence, labels, scores } = await judge(one.text, one.candidate_labels, options);
      expect({ sequence, labels }).toEqual({ sequence: one.text, labels: one.labels });
      for (const [place, score] of one.scores.entries()) expect(scores[place]).toBeCloseTo(score, 4);
      expect(await judge([one.text, one.text], one.candidate_labels, options)).toHaveLength(2);
    }
  });

  it("token-classification: tokens, or entities when asked for, with the field names of transformers", async () => {
    const recognize = await use("ner", "minilm-l3-ner");
    const { items } = golden("minilm-l3-ner") as {
      items: { text: string; pipeline: Record<"none" | "simple", object[]> | null }[];
    };
    const { text, pipeline: expected } = items.find(({ pipeline: said }) => (said?.simple.length ?? 0) > 1)!;
    const rounded = (entities: readonly object[]): object[] =>
      entities.map((entity) => Object.fromEntries(Object.entries(entity).filter(([name]) => name !== "score")));
    expect(rounded(await recognize(text))).toEqual(rounded(expected!.none));
    expect(rounded(await recognize(text, { aggregation: "simple" }))).toEqual(rounded(expected!.simple));
    expect(await recognize([text, ""])).toEqual([await recognize(text), []]);
  });

  it("text-ranking: documents in the order sentence-transformers gave them", async () => {
    const rank = await use("text-ranking", "minilm-pair-scorer");
    const { rank: expected } = golden("minilm-pair-scorer") as {
      rank: { query: string; documents: string[]; result: { corpus_id: number }[] };
    };
    const ranked = await rank(expected.query, expected.documents);
    expect(ranked.map(({ index }) => index)).toEqual(expected.result.map(({ corpus_id: id }) => id));
  });
});

interface TinyGolden {
  readonly text: string;
  readonly text_pair: string | null;
  readonly last_hidden_state: { readonly data: string };
  readonly mean_pooled: { readonly data: string };
  readonly mean_pooled_normalized: { readonly data: string };
  readonly cls_pooled: { readonly data: string };
}

const floats = ({ data }: { readonly data: string }): Float32Array => {
  const bytes = Buffer.from(data, "base64");
  return Float32Array.from({ length: bytes.length / 4 }, (_value, index) => bytes.readFloatLE(index * 4));
};

const [skipTiny, tinyTitle] = needsData("a model that does not say how it pools, against PyTorch");
describe.skipIf(skipTiny)(tinyTitle, async () => {
  const model = `${sharedData}tiny-random-bert`;
  const { items, padded_batch: padded } = (
    skipTiny ? { items: [] } : JSON.parse(readFileSync(`${model}/goldens.json`, "utf8"))
  ) as {
    items: TinyGolden[];
    padded_batch: { texts: string[]; attention_mask: number[][]; last_hidden_state: { shape: number[]; data: string } };
  };
  const goldens = items.filter(({ text_pair: pair }) => pair === null);
  const texts = goldens.map(({ text }) => text);

  it("needs to be told: POOLING_UNKNOWN", async () => {
    const extract = await load(model, { target: "onnx:cpu" });
    await expect(extract(texts)).rejects.toMatchObject({ code: "POOLING_UNKNOWN" });
  });

  describe.each(runsAll ? ["onnx:cpu", "wasm:cpu"] : ["onnx:cpu"])("on %s", (target) => {
    let extract: FeaturePipeline;
    beforeAll(async () => {
      extract = await load(model, { target });
    });

    it.each([
      ["mean", false, "mean_pooled"],
      ["mean", true, "mean_pooled_normalized"],
      ["cls", false, "cls_pooled"],
    ] as const)("%s, normalized: %s", async (pooling, normalize, field) => {
      const { dims, data } = await extract(texts, { pooling, normalize });
      expect(dims).toEqual([texts.length, 32]);
      for (const [index, golden] of goldens.entries())
        expect(worst(data.subarray(index * 32, (index + 1) * 32), floats(golden[field])), golden.text).toBeLessThan(1e-4);
    });

    it("none gives the hidden states of PyTorch's padded batch, and says how many of each text's are its own", async () => {
      const { dims, data, tokens } = await extract(padded.texts, { pooling: "none" });
      const states = floats(padded.last_hidden_state);
      expect(dims).toEqual(padded.last_hidden_state.shape);
      expect(tokens).toEqual(padded.attention_mask.map((mask) => mask.filter((bit) => bit === 1).length));
      expect(tokens[0]).not.toBe(tokens[1]);
      for (const [text, count] of tokens.entries()) {
        const start = text * dims[1]! * 32;
        expect(worst(data.subarray(start, start + count * 32), states.subarray(start, start + count * 32))).toBeLessThan(1e-4);
        expect(data.subarray(start + count * 32, start + dims[1]! * 32).every((value) => value === 0)).toBe(true);
      }
    });

    it("pairs of texts, which are no feature extraction, have PyTorch's hidden states as tensors", async () => {
      const pairs = items.filter(({ text_pair: pair }) => pair !== null);
      expect(pairs.length).toBeGreaterThan(0);
      const runtime = await createRuntime({ target, host: "inline", threads: 1 });
      const handle = await runtime.load(model);
      const tokenizer = await runtime.tokenizer(handle);
      for (const golden of pairs) {
        const { ids, typeIds } = tokenizer.encode(golden.text, { pair: golden.text_pair! });
        expect(worst(await tokenVectors(handle, ids, typeIds), floats(golden.last_hidden_state))).toBeLessThan(1e-4);
      }
      await runtime.dispose();
    });

    it("none gives every token's vector, zeros after the end of shorter texts", async () => {
      const { dims, data } = await extract(texts, { pooling: "none" });
      const states = goldens.map((golden) => floats(golden.last_hidden_state));
      const longest = Math.max(...states.map((state) => state.length));
      expect(dims).toEqual([texts.length, longest / 32, 32]);
      for (const [index, state] of states.entries()) {
        const row = data.subarray(index * longest, (index + 1) * longest);
        expect(worst(row.subarray(0, state.length), state), texts[index]).toBeLessThan(1e-4);
        expect(row.subarray(state.length).every((value) => value === 0)).toBe(true);
      }
    });
  });
});

describe("precision", () => {
  it("gives typed arrays with what makes floats of them again, and is refused where floats are meant", async () => {
    const runtime = await createRuntime({ host: "inline", threads: 1 });
    const texts = ["a cat", "ein Satz", ""];
    const { embeddings: floats } = await runtime.embed(texts);
    const { embeddings, scales, precision, dimensions } = await runtime.embed(texts, { precision: "int8" });
    expect([precision, dimensions, scales?.per]).toEqual(["int8", 256, "text"]);
    for (const [text, numbers] of embeddings.entries()) {
      const back = Float32Array.from(numbers, (number) => scales!.starts[text]! + scales!.steps[text]! * number);
      expect(worst(back, floats[text]!)).toBeLessThanOrEqual(scales!.steps[text]! * 0.501);
    }
    const bits = await runtime.embed(texts, { precision: "ubinary", dimensions: 16 });
    const [first] = (await runtime.embed(texts, { dimensions: 16 })).embeddings;
    const expected = Array.from(first!, (value) => (value > 0 ? "1" : "0")).join("");
    expect(Array.from(bits.embeddings[0]!, (byte) => byte.toString(2).padStart(8, "0")).join("")).toBe(expected);
    expect(bits.dimensions).toBe(16);
    const ranges = embeddingRanges(floats);
    expect((await runtime.embed(texts, { precision: "uint8", ranges })).scales?.per).toBe("dimension");
    await expect(runtime.embed(texts, { ranges } as never)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(runtime.embed(texts, { precision: "int8", ranges: [[0], [1]] })).rejects.toThrow("ranges are of 1 dimensions");
    await expect(runtime.embed(texts, { precision: null as never })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(runtime.embed(texts, { precision: "int4" as never })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await runtime.dispose();
    const extract = await load();
    await expect(extract("a", { precision: "int8" as never })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });
});
