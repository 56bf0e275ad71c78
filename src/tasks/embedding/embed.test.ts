import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HostedRunOptions } from "../../hosts/host.ts";
import type { Manifest, TextSettings } from "../../models/manifest.ts";
import { reduceOutputs } from "../../hosts/output-reduction.ts";
import type { TensorInfo, TensorMap } from "../../contract/tensor.ts";
import { embed } from "./embed.ts";
import type { EmbedOptions } from "./embed-options.ts";
import type { TaskTokenizer } from "../encoding/encode-texts.ts";
import type { Encoder } from "../batching/run-encodings.ts";

const info = (name: string, shape: TensorInfo["shape"], dataType: TensorInfo["dataType"] = "int64"): TensorInfo => ({
  name,
  dataType,
  shape,
});

/** A token per letter; "^" and the prompt's letters come first. */
const tokenizer: TaskTokenizer = {
  padId: 0,
  maskId: undefined,
  tokenToId: () => undefined,
  frame: { prefix: [94], suffix: [] },
  encode(text, { maxTokens = Number.POSITIVE_INFINITY, prompt = "" } = {}) {
    const all = [94, ...Buffer.from(prompt + text, "latin1")];
    const ids = all.slice(0, maxTokens);
    return {
      ids,
      truncated: ids.length < all.length,
      wholeLength: all.length,
      promptTokens: prompt === "" ? 0 : prompt.length + 1,
    };
  },
};

const text: TextSettings = {
  tokenizerPath: "/m/tokenizer.json",
  tokenizerShown: "m/tokenizer.json",
  tokenizerConfig: {},
  specialTokens: true,
  dropUnknown: false,
  lowercase: false,
  pooling: "mean",
  poolPrompt: true,
  normalize: false,
  prompts: { query: "q:" },
};

interface Scene {
  readonly text?: Partial<TextSettings>;
  readonly pooling?: "unknown";
  /** The vector of a token. Default: [id, 1, 0]. */
  readonly vectorOf?: (id: number) => readonly number[];
  readonly replicas?: number;
  readonly outputs?: readonly TensorInfo[];
}

/** A model whose token vectors follow a rule; `batches` records the lengths it was run with, `replicas` which instance ran them. */
function encoder({
  text: over = {},
  pooling,
  vectorOf = (id) => [id, 1, 0],
  replicas = 1,
  outputs,
}: Scene = {}): Encoder<TaskTokenizer> & {
  readonly shapes: number[][];
  readonly ranOn: Set<number>;
} {
  const { pooling: own, ...silent } = { ...text, ...over };
  const manifest: Manifest = {
    reference: "./m",
    name: "m",
    directory: "/m",
    source: "huggingface",
    tasks: [],
    variants: [],
    selection: { backends: [], fallbacks: [] },
    requirements: {},
    text: pooling === "unknown" || own === undefined ? silent : { ...silent, pooling: own },
  };
  const shapes: number[][] = [];
  const ranOn = new Set<number>();
  const replicaNumber =
    (lane: number) =>
    async (inputs: TensorMap, { reductions }: HostedRunOptions = {}) => {
      await Promise.resolve();
      ranOn.add(lane);
      const { shape, data } = inputs["input_ids"]!;
      shapes.push([...shape]);
      // Padding gets a vector too, as in a real model: a huge one, which must not reach any result.
      const rows = Array.from(data as BigInt64Array, (id) => (id === 0n ? [1e6, 1e6, 1e6] : vectorOf(Number(id))));
      const hidden = { dataType: "float32" as const, shape: [...shape, 3], data: Float32Array.from(rows.flat()) };
      return reduceOutputs({ last_hidden_state: hidden }, reductions);
    };
  return {
    manifest,
    tokenizer,
    inputs: [info("input_ids", ["batch", "sequence"]), info("attention_mask", ["batch", "sequence"])],
    outputs: outputs ?? [info("last_hidden_state", ["batch", "sequence", 3], "float32")],
    run: replicaNumber(0),
    replicas: async () => Array.from({ length: replicas }, (_replica, index) => ({ run: replicaNumber(index + 1) })),
    shapes,
    ranOn,
  };
}

describe("texts to vectors", () => {
  it("pools the tokens of each text, in the order of the texts", async () => {
    const { embeddings, dimensions, tokens, truncated } = await embed(encoder(), ["b", "", "dd"]);
    expect(embeddings.map((vector) => [...vector])).toEqual([
      [(94 + 98) / 2, 1, 0],
      [94, 1, 0],
      [Math.fround((94 + 100 + 100) / 3), 1, 0],
    ]);
    expect({ dimensions, tokens, truncated }).toEqual({ dimensions: 3, tokens: [2, 1, 3], truncated: [] });
  });

  it("gives in any batching what one by one gives", async () => {
    const texts = fc.array(fc.string({ unit: fc.constantFrom("a", "b", "z"), maxLength: 20 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(texts, fc.integer({ min: 1, max: 100 }), async (list, batchTokens) => {
        const together = await embed(encoder(), list, { batchTokens });
        const singles = await Promise.all(list.map((single) => embed(encoder(), [single])));
        expect(together.embeddings).toEqual(singles.map(({ embeddings }) => embeddings[0]));
      }),
      { numRuns: 40 },
    );
  });

  it("cuts to the model's limit and says which texts were cut; or refuses them", async () => {
    const limited = { text: { maxTokens: 3 } };
    const { tokens, truncated } = await embed(encoder(limited), ["ab", "abcdef"]);
    expect({ tokens, truncated }).toEqual({ tokens: [3, 3], truncated: [1] });
    await expect(embed(encoder(limited), ["ab", "abcdef"], { truncate: "error" })).rejects.toMatchObject({
      code: "INPUT_TOO_LONG",
      message: "text 1 has 7 tokens, and the limit is 3",
      data: { text: 1, tokens: 7, limit: 3 },
    });
  });

  it("puts the prompt before every text, and leaves it out of pooling where the model says so", async () => {
    const [vector] = (await embed(encoder({ text: { poolPrompt: false } }), ["b"], { prompt: "query" })).embeddings;
    expect(vector?.[0]).toBe(98);
    const [whole] = (await embed(encoder(), ["b"], { prompt: "query" })).embeddings;
    expect(whole?.[0]).toBe((94 + 113 + 58 + 98) / 4);
  });

  it("dimensions keep the first ones, and unit length is made after the cut", async () => {
    const scene = { text: { normalize: true }, vectorOf: () => [3, 4, 12] };
    const { embeddings, dimensions } = await embed(encoder(scene), ["a"], { dimensions: 2 });
    expect({ dimensions, vector: [...embeddings[0]!] }).toEqual({ dimensions: 2, vector: [...Float32Array.of(0.6, 0.8)] });
    await expect(embed(encoder(scene), ["a"], { dimensions: 4 })).rejects.toThrow(
      "dimensions is 4, and the model's vectors have 3",
    );
  });

  it('with pooling "none" every text has the vectors of all its tokens, padding left out', async () => {
    const { embeddings, dimensions } = await embed(encoder(), ["b", "bcd"], { pooling: "none" });
    expect(dimensions).toBe(3);
    expect(embeddings.map((vectors) => vectors.length)).toEqual([6, 12]);
    expect([...embeddings[0]!]).toEqual([94, 1, 0, 98, 1, 0]);
    await expect(embed(encoder(), ["b"], { pooling: "none", dimensions: 2 })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("no texts are no vectors, and the model is not run", async () => {
    const model = encoder();
    expect(await embed(model, [])).toEqual({ embeddings: [], dimensions: 3, tokens: [], truncated: [] });
    expect(model.shapes).toEqual([]);
  });
});

describe("what is refused", () => {
  it("a model whose files do not say how it pools: POOLING_UNKNOWN, with the flag that says it", async () => {
    await expect(embed(encoder({ pooling: "unknown" }), ["a"])).rejects.toMatchObject({
      code: "POOLING_UNKNOWN",
      remedy: expect.stringContaining('pooling: "mean"'),
    });
    expect((await embed(encoder({ pooling: "unknown" }), ["a"], { pooling: "cls" })).embeddings[0]?.[0]).toBe(94);
  });

  it("a text that is not a string, by its place", async () => {
    await expect(embed(encoder(), ["a", null as never])).rejects.toThrow("text 1 is null, not a string");
    await expect(embed(encoder(), [7 as never])).rejects.toThrow("text 0 is number, not a string");
  });

  it("a value that is not a number never reaches the caller", async () => {
    const broken = encoder({ vectorOf: (id) => [id === 98 ? Number.NaN : 1, 1, 1] });
    await expect(embed(broken, ["a", "b"])).rejects.toMatchObject({ code: "RUN_FAILED", data: { text: 1, component: 0 } });
  });

  it("a backend that leaves out the output it declared", async () => {
    const outputs = [info("token_embeddings", ["batch", "sequence", 3], "float32")];
    await expect(embed(encoder({ outputs }), ["a"])).rejects.toMatchObject({ code: "CONTRACT_VIOLATION" });
  });

  it("a caller who has given up: nothing is run", async () => {
    const model = encoder();
    await expect(embed(model, ["a"], { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
    expect(model.shapes).toEqual([]);
  });
});

describe("long texts in windows", () => {
  const limited = { text: { maxTokens: 4 } };
  /** Of windows of 3 letters each: "abcdefg" is abc, def, g. */
  const windowMean = (letters: string): number =>
    [94, ...Buffer.from(letters)].reduce((sum, id) => sum + id, 0) / (letters.length + 1);

  it("have the mean of their windows' vectors, weighted by their tokens of the text", async () => {
    const result = await embed(encoder(limited), ["abcdefg", "ab", ""], { truncate: "windows" });
    const expected = (3 * windowMean("abc") + 3 * windowMean("def") + windowMean("g")) / 7;
    expect(result.embeddings[0]?.[0]).toBeCloseTo(expected, 5);
    expect(result.embeddings.slice(1)).toEqual((await embed(encoder(limited), ["ab", ""])).embeddings);
    expect(result).toMatchObject({ windows: [3, 1, 1], tokens: [4 + 4 + 2, 3, 1], truncated: [], dimensions: 3 });
  });

  it("overlap by the stride, and what a window repeats has no weight", async () => {
    const { embeddings, windows } = await embed(encoder(limited), ["abcdef"], { truncate: "windows", stride: 2 });
    const parts = [windowMean("abc"), windowMean("bcd"), windowMean("cde"), windowMean("def")];
    const expected = (3 * parts[0]! + parts[1]! + parts[2]! + parts[3]!) / 6;
    expect(windows).toEqual([4]);
    expect(embeddings[0]?.[0]).toBeCloseTo(expected, 5);
  });

  it("have the prompt in every window, pooled or not as the model says", async () => {
    const model = { text: { maxTokens: 6, poolPrompt: false } }; // "^q:" leaves room for three letters
    const { embeddings } = await embed(encoder(model), ["abcde"], { truncate: "windows", prompt: "query" });
    expect(embeddings[0]?.[0]).toBeCloseTo((3 * 98 + 2 * 100.5) / 5, 5);
  });

  it("are cut and scaled once, after the mean", async () => {
    const scene = { text: { maxTokens: 2, normalize: true }, vectorOf: (id: number) => (id === 97 ? [8, 0, 5] : [0, 6, 5]) };
    const { embeddings } = await embed(encoder(scene), ["ab"], { truncate: "windows", dimensions: 2 });
    // Windows "^a" [4, 3, 5] and "^b" [0, 6, 5]: mean [2, 4.5].
    const length = Math.hypot(2, 4.5);
    expect([...embeddings[0]!]).toEqual([...Float32Array.of(2 / length, 4.5 / length)]);
  });

  it("are refused with what cannot be: no room, token vectors, a stride without windows or too large", async () => {
    const refused = (options: EmbedOptions, maxTokens = 4) =>
      expect(embed(encoder({ text: { maxTokens } }), ["a"], options)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await refused({ truncate: "windows" }, 1);
    await refused({ truncate: "windows", pooling: "none" });
    await refused({ truncate: "windows", stride: 3 });
    await refused({ truncate: "windows", stride: -1 });
    await refused({ stride: 1 });
  });

  it("a value that is not a number is told with its text, not its window", async () => {
    const broken = encoder({ ...limited, vectorOf: (id) => [id === 103 ? Number.NaN : 1, 1, 1] });
    await expect(embed(broken, ["abcdef", "abcdefg"], { truncate: "windows" })).rejects.toMatchObject({ data: { text: 1 } });
  });
});

describe("modules after pooling", () => {
  const weights = { path: "/m/2_Dense/model.safetensors", displayName: "m/2_Dense/model.safetensors" };
  const dense = { kind: "dense", weights, inFeatures: 3, outFeatures: 2, bias: false, activation: "Identity" } as const;
  const vectorModules = [dense];
  /** Swaps the first two numbers. */
  const loadModules = async () => ({ dimensions: 2, apply: ([a = 0, b = 0]: Float32Array) => Float32Array.of(b, a) });

  it("take the pooled vector, whatever the pooling, and not those of tokens", async () => {
    const model = { ...encoder({ text: { vectorModules } }), loadModules };
    const { embeddings, dimensions } = await embed(model, ["b"]);
    expect([dimensions, ...embeddings[0]!]).toEqual([2, 1, 96]);
    expect([...(await embed(model, ["b"], { pooling: "cls" })).embeddings[0]!]).toEqual([1, 94]);
    expect([...(await embed(model, ["b"], { pooling: "none" })).embeddings[0]!]).toEqual([94, 1, 0, 98, 1, 0]);
    expect((await embed(model, [])).dimensions).toBe(2);
  });

  it("are in the graph where it pools by itself; one that is shorter than they give is refused", async () => {
    const graph = (size: number) => {
      const outputs = [info("sentence_embedding", ["batch", size], "float32")];
      const run = async ({ input_ids: ids }: TensorMap): Promise<TensorMap> => {
        const shape = [ids!.shape[0]!, size];
        return { sentence_embedding: { dataType: "float32", shape, data: new Float32Array(shape[0]! * size).fill(7) } };
      };
      return { ...encoder({ text: { vectorModules }, outputs }), loadModules, run };
    };
    expect([...(await embed(graph(2), ["b"])).embeddings[0]!]).toEqual([7, 7]);
    await expect(embed(graph(3), ["b"])).rejects.toMatchObject({ code: "MODEL_INVALID" });
  });

  it("are never left out without a word", async () => {
    await expect(embed(encoder({ text: { vectorModules } }), ["b"])).rejects.toMatchObject({ code: "CONTRACT_VIOLATION" });
  });

  it("a value that is not a number is told before they hide it", async () => {
    const broken = { ...encoder({ text: { vectorModules }, vectorOf: () => [1, 1, Number.POSITIVE_INFINITY] }), loadModules };
    await expect(embed(broken, ["b"])).rejects.toMatchObject({ code: "RUN_FAILED", data: { text: 0, component: 2 } });
  });
});

describe("bulk work", () => {
  const long = "x".repeat(99);

  it("small work stays on the one model", async () => {
    const model = encoder({ replicas: 2 });
    await embed(
      model,
      Array.from({ length: 20 }, () => long),
    );
    expect([...model.ranOn]).toEqual([0]);
  });

  it("much work is shared by the copies, and each batch is run once", async () => {
    const model = encoder({ replicas: 2 });
    const { embeddings } = await embed(
      model,
      Array.from({ length: 100 }, () => long),
    );
    expect([...model.ranOn].toSorted()).toEqual([1, 2]);
    expect(model.shapes).toEqual(Array.from({ length: 20 }, () => [5, 100]));
    expect(embeddings.filter((vector) => vector.length === 3)).toHaveLength(100);
  });

  it("when a batch fails, the copies do not work on what nobody will get", async () => {
    const model = encoder({ replicas: 2, vectorOf: (id) => [id === 122 ? Number.NaN : 1, 1, 1] });
    const texts = Array.from({ length: 100 }, (_text, index) => (index === 0 ? `z${long}` : long));
    await expect(embed(model, texts)).rejects.toMatchObject({ code: "RUN_FAILED" });
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(model.shapes.length).toBeLessThan(4);
  });
});
