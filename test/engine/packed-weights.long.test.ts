/** Weights that are packed to int8 and int4 while a model is loaded: results, memory, decisions and refusals. */
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, InferyardError } from "inferyard";
import type { LanguageModel, LanguageModelFiles, PackedPrecision } from "inferyard/backend";
import { native } from "inferyard/backends/native";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Tensor } from "../../src/contract/tensor.ts";
import { writeSafetensors } from "../../src/formats/safetensors/write-safetensors.ts";
import { decodeBlocks } from "../../src/formats/gguf/blocks/block-format.ts";
import { getPacking, packValues } from "../../src/formats/scaled-blocks/encode.ts";
import { encodeFloat } from "../../src/contract/small-floats.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { runsAll } from "../fixtures/slow.ts";
import { languageCasesOnOneModel } from "../fixtures/cases-on-one-model.ts";

/** One for all tests: a backend tests its kernels when it loads its first model. */
const ours = native();

const root = mkdtempSync(join(tmpdir(), "inferyard-packed-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const cpu = { type: "cpu", index: 0 };
const precisions: readonly PackedPrecision[] = ["int8", "int4"];

/** A Llama whose feed-forward width is no multiple of 32, so that the rows of `down_proj` are no whole blocks. */
const config = {
  architectures: ["LlamaForCausalLM"],
  model_type: "llama",
  hidden_size: 128,
  intermediate_size: 200,
  max_position_embeddings: 128,
  num_attention_heads: 4,
  num_hidden_layers: 2,
  num_key_value_heads: 2,
  rms_norm_eps: 1e-5,
  tie_word_embeddings: false,
  vocab_size: 640,
};
const unfit = /down_proj/;

function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function llamaTensors(): Record<string, Float32Array> {
  const random = randomNumbers(7);
  // Of an almost normal distribution.
  const matrix = (rows: number, columns: number): Float32Array =>
    Float32Array.from(
      { length: rows * columns },
      () => (random() + random() + random() + random() - 2) * (1.2 / Math.sqrt(columns)),
    );
  const { hidden_size: width, intermediate_size: inner, vocab_size: vocabulary } = config;
  const layers = [0, 1].flatMap((layer) =>
    Object.entries({
      "self_attn.q_proj": matrix(width, width),
      "self_attn.k_proj": matrix(width / 2, width),
      "self_attn.v_proj": matrix(width / 2, width),
      "self_attn.o_proj": matrix(width, width),
      "mlp.gate_proj": matrix(inner, width),
      "mlp.up_proj": matrix(inner, width),
      "mlp.down_proj": matrix(width, inner),
      input_layernorm: new Float32Array(width).fill(1),
      post_attention_layernorm: new Float32Array(width).fill(1),
    }).map(([name, values]) => [`model.layers.${layer}.${name}.weight`, values] as const),
  );
  return {
    "model.embed_tokens.weight": matrix(vocabulary, width),
    ...Object.fromEntries(layers),
    "model.norm.weight": new Float32Array(width).fill(1),
    "lm_head.weight": matrix(vocabulary, width),
  };
}

/** The values that blocks of 32 hold, computed from their definition: scale * code with the scale in float32. */
function rounded(values: Float32Array, precision: PackedPrecision): Float32Array {
  const result = new Float32Array(values.length);
  for (let start = 0; start < values.length; start += 32) {
    const block = [...values.subarray(start, start + 32)];
    const largest = block.reduce((best, value) => (Math.abs(value) > Math.abs(best) ? value : best), 0);
    const [low, high] = precision === "int8" ? [-127, 127] : [-8, 7];
    const steps = precision === "int8" ? [Math.sign(largest) * 127] : [-7, -7.6, -8, -8.4];
    const candidates = steps.map((step) => {
      const scale = Math.fround(largest / step);
      const held = block.map((value) => Math.fround(scale * Math.max(low, Math.min(high, Math.floor(value / scale + 0.5)))));
      return { held, error: held.reduce((sum, value, index) => sum + (value - block[index]!) ** 2, 0) };
    });
    result.set(candidates.reduce((best, each) => (each.error < best.error ? each : best)).held, start);
  }
  return result;
}

async function writeModel(
  name: string,
  tensors: Record<string, Float32Array>,
  as: "float32" | "float16" | "bfloat16" = "float32",
) {
  const folder = join(root, name);
  cpSync(`${sharedData}tiny-random-llama`, folder, {
    recursive: true,
    filter: (path) => !/onnx|safetensors$|goldens/.test(path),
  });
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  const stored = Object.entries(tensors).map(([tensor, values]): [string, Tensor] => {
    const { hidden_size: width, intermediate_size: inner } = config;
    const columns = unfit.test(tensor) ? inner : width;
    const shape = values.length === width ? [width] : [values.length / columns, columns];
    if (as === "float32") return [tensor, { dataType: as, shape, data: values as Float32Array<ArrayBuffer> }];
    return [tensor, { dataType: as, shape, data: Uint16Array.from(values, (value) => encodeFloat(as, value, false)) }];
  });
  await writeSafetensors(join(folder, "model.safetensors"), Object.fromEntries(stored), { format: "pt" });
  return folder;
}

function filesOf(folder: string, to?: PackedPrecision): LanguageModelFiles {
  const { bytes } = { bytes: readFileSync(join(folder, "model.safetensors")).length };
  const packing = to === undefined ? {} : { packing: { to, from: "fp32", bytes: 1 } };
  const model = { format: "safetensors", path: join(folder, "model.safetensors"), bytes, precision: "fp32" } as const;
  return { ...model, ...packing, architecture: "LlamaForCausalLM", config };
}

async function load(files: LanguageModelFiles): Promise<LanguageModel> {
  return (await ours.loadLanguage?.(files, cpu, { threads: 1 })) as LanguageModel;
}

const prompt = [1, 17, 400, 33, 512, 9, 88, 260, 3, 77];

async function logitsOf(model: LanguageModel): Promise<Float32Array> {
  const sequence = await model.createSequence();
  const [logits = new Float32Array()] = await model.decode([{ sequence, tokens: prompt, logits: prompt.length }]);
  await model.releaseSequence(sequence);
  return logits;
}

async function greedy(model: LanguageModel, count: number): Promise<number[]> {
  const sequence = await model.createSequence();
  let [logits = new Float32Array()] = await model.decode([{ sequence, tokens: prompt }]);
  const tokens: number[] = [];
  while (tokens.length < count) {
    tokens.push(logits.indexOf(Math.max(...logits)));
    [logits = new Float32Array()] = await model.decode([{ sequence, tokens: tokens.slice(-1) }]);
  }
  await model.releaseSequence(sequence);
  return tokens;
}

function largestDifference(actual: Float32Array, expected: Float32Array): number {
  return expected.reduce((most, value, index) => Math.max(most, Math.abs(value - (actual[index] ?? Number.NaN))), 0);
}

const [skip, title] = needsData("weights packed while loading");

describe.skipIf(skip)(title, () => {
  const tensors = llamaTensors();
  let folder: string;
  const roundedFolders = new Map<PackedPrecision, string>();

  beforeAll(async () => {
    folder = await writeModel("llama", tensors);
    for (const precision of precisions) {
      const of = (name: string, values: Float32Array): Float32Array =>
        values.length === config.hidden_size || unfit.test(name) ? values : rounded(values, precision);
      const all = Object.fromEntries(Object.entries(tensors).map(([name, values]) => [name, of(name, values)]));
      roundedFolders.set(precision, await writeModel(`llama-${precision}`, all));
    }
  });

  it.each(precisions)("to %s give the logits of a model whose weights were rounded by the definition", async (precision) => {
    const [packed, reference, exact] = await Promise.all(
      [filesOf(folder, precision), filesOf(roundedFolders.get(precision)!), filesOf(folder)].map(load),
    );
    const own = await logitsOf(packed!);
    const largest = Math.max(...own.map(Math.abs));
    // Activations of products with packed weights are rounded to 16 bits.
    expect(largestDifference(own, await logitsOf(reference!)) / largest).toBeLessThan(5e-4);
    const difference = largestDifference(own, await logitsOf(exact!)) / largest;
    expect(difference).toBeLessThan(precision === "int8" ? 0.04 : 0.6);
    expect(difference).toBeGreaterThan(1e-3);
    expect(await greedy(packed!, 12)).toEqual(await greedy(reference!, 12));
    const notes = (await packed!.evidence()).find((sentence) => sentence.includes("packed to"));
    expect(notes).toMatch(`14 matrices packed to ${precision} in blocks of 32 while loading`);
    expect(notes).toMatch("2 stay float32, since their rows are not a multiple of 32");
    for (const model of [packed, reference, exact]) await model!.dispose();
  });

  it.each(precisions)("to %s hold the values of the definition, bit for bit", (precision) => {
    const values = tensors["lm_head.weight"]!;
    const held = new Float32Array(values.length);
    decodeBlocks(getPacking(precision).format, packValues(precision, values), held);
    const expected = rounded(values, precision);
    expect(held.findIndex((value, index) => !Object.is(value + 0, expected[index]! + 0))).toBe(-1);
  });

  it.each(runsAll ? (["float16", "bfloat16"] as const) : (["bfloat16"] as const))(
    "of a file in %s are those of its values",
    async (type) => {
      const narrow = await writeModel(`llama-${type}`, tensors, type);
      const packed = await load({ ...filesOf(narrow, "int8") });
      const wide = await load(filesOf(narrow));
      const [own, expected] = [await logitsOf(packed), await logitsOf(wide)];
      expect(largestDifference(own, expected) / Math.max(...expected.map(Math.abs))).toBeLessThan(0.04);
      await packed.dispose();
      await wide.dispose();
    },
  );

  describe.each(runsAll ? precisions : (["int4"] as const))("a language model in %s", (precision) => {
    const samples = [{ prompt, continuation: [] as number[] }];
    beforeAll(async () => {
      const model = await load(filesOf(folder, precision));
      samples[0]!.continuation.push(...(await greedy(model, 8)));
      await model.dispose();
    });
    const subject = {
      create: native,
      device: cpu,
      get model() {
        return filesOf(folder, precision);
      },
      samples,
      repeatTolerance: 5e-4, // sums of attention in another order may round an activation to the next of its 16 bits
    };
    for (const { name, run } of skip ? [] : languageCasesOnOneModel(subject))
      it(name, async () => expect(await run()).toBeUndefined());
  });

  it("take the memory of their packed size, and no copy besides", async () => {
    const parameters = Object.entries(tensors)
      .filter(([name]) => !unfit.test(name))
      .reduce((sum, [, values]) => sum + values.length, 0);
    const memoryOf = async (precision?: PackedPrecision): Promise<number> => {
      const model = await load(filesOf(folder, precision));
      const { bytes, measure } = model.memory;
      expect(measure).toBe("allocated");
      await model.dispose();
      return bytes;
    };
    const whole = await memoryOf();
    expect((whole - (await memoryOf("int8"))) / parameters).toBeGreaterThan(4 - 1.2);
    expect((whole - (await memoryOf("int4"))) / parameters).toBeGreaterThan(4 - 0.7);
  });

  it("are chosen by the variant, and the decision says so", async () => {
    await using runtime = await createRuntime({ host: "inline", threads: 1 });
    const handle = await runtime.load(folder, { variant: "int4", kind: "language" });
    const { model, candidates, selected } = handle.decision;
    expect(selected?.target).toBe("native:cpu");
    expect(model).toMatchObject({ variant: "int4", packedFrom: "fp32", format: "safetensors" });
    expect(selected?.evidence.join("; ")).toMatch("14 matrices packed to int4");
    const reasonOf = (target: string): string => candidates.find((each) => each.target === target)?.reason ?? "";
    expect(reasonOf("native:cpu")).toMatch(/int4 packed from fp32 while loading, about \d+ MB/);
    expect(reasonOf("onnx:cpu")).toMatch("the files have no int4 weights (they have fp32), and onnx packs no weights");
    await handle.dispose();

    const whole = await runtime.load(folder, { kind: "language", target: "native" });
    expect(whole.decision.model.variant).toBe("fp32");
    expect(whole.decision.model).not.toHaveProperty("packedFrom");
    await whole.dispose();

    const explained = (await runtime.explain(folder, { variant: "int8" })).candidates.find(
      ({ verdict }) => verdict === "would-run",
    );
    expect(explained).toMatchObject({ target: "native:cpu", reason: expect.stringMatching("int8 packed from fp32") as string });
  });

  it("are refused by name where no backend packs them", async () => {
    await using runtime = await createRuntime({ host: "inline", threads: 1 });
    await expect(runtime.load(folder, { variant: "int8", kind: "language", target: "onnx" })).rejects.toMatchObject({
      code: "NO_BACKEND",
      message: expect.stringMatching("onnx packs no weights") as string,
    });
    await expect(runtime.load(folder, { variant: "int2", kind: "language" })).rejects.toMatchObject({ code: "MODEL_NOT_FOUND" });
    const gguf = runtime.load(`${sharedData}tinyllm/tinyllm.gguf`, { variant: "int8", kind: "language" });
    const error = await gguf.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(InferyardError);
    expect((error as InferyardError).remedy).toMatch("inferyard quantize");
  });

  it("of other architectures give nearly the results of their files", async () => {
    await using runtime = await createRuntime({ target: "native", host: "inline", threads: 1 });
    const generated = async (name: string, variant: string): Promise<readonly number[]> =>
      (await runtime.generate([1, 5, 9, 30], { model: `${sharedData}${name}/model.safetensors`, variant, maxNewTokens: 1 }))
        .results[0]!.tokens;
    expect(await generated("tiny-random-gpt2", "int8")).toEqual(await generated("tiny-random-gpt2", "fp32"));
    const vectorOf = async (variant?: string): Promise<Float32Array> =>
      (
        await runtime.embed("two words", {
          model: `${sharedData}${runsAll ? "all-MiniLM-L6-v2" : "tiny-random-bert"}/model.safetensors`,
          ...(variant === undefined ? {} : { variant }),
          pooling: "mean",
        })
      ).embeddings[0]!;
    const [own, whole] = [await vectorOf("int4"), await vectorOf()];
    expect(own.reduce((sum, value, index) => sum + value * whole[index]!, 0)).toBeGreaterThan(0.95);
  });
});
