/** Models from GGUF files on the engines that run them, held to values of PyTorch with the same weights. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import type { Backend, LanguageModel, LanguageModelFiles } from "inferyard/backend";
import { llamacpp } from "inferyard/backends/llamacpp";
import { native } from "inferyard/backends/native";
import { createRuntime } from "inferyard";
import { describe, expect, it } from "vitest";
import { readGgufModel } from "../../src/formats/gguf/models/read-model.ts";
import { ggufParts } from "../../src/formats/gguf/write-gguf.ts";
import { readManifest } from "../../src/models/index.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { runsAll } from "../fixtures/slow.ts";
import { languageCasesOnOneModel } from "../fixtures/cases-on-one-model.ts";

interface Item {
  readonly text: string;
  readonly input_ids: readonly number[];
  readonly greedy_12: readonly number[];
  readonly greedy_margin: number;
  readonly last_token_logits: { readonly data: string };
}

interface Goldens {
  readonly files: readonly { readonly file: string; readonly type: string; readonly items: readonly Item[] }[];
}

const folder = `${sharedData}gguf-tiny-llama`;
const [skip, title] = needsData("gguf-tiny-llama");
const { files } = skip ? { files: [] } : (JSON.parse(readFileSync(`${folder}/goldens.json`, "utf8")) as Goldens);

/**
 * Largest difference from PyTorch's logits. Where weights are quantized, native quantizes activations to 16 bits, or to 8 where they are ternary; llama.cpp quantizes
 * activations to 8 bits, and rounds caches.
 */
const tolerances = {
  native: { F32: 1e-4, ternary: 0.25, other: 5e-3 },
  llamacpp: { F32: 1e-4, ternary: Number.POSITIVE_INFINITY, other: Number.POSITIVE_INFINITY },
};
/** Smallest cosine of the angle to PyTorch's logits. */
const minCosine = 0.99;

const cpu = { type: "cpu", index: 0 };

/** The files of a model with two layers, as `models/` describes them. */
function modelOf(path: string): LanguageModelFiles {
  const config = { num_hidden_layers: 2, num_attention_heads: 4, num_key_value_heads: 2, hidden_size: 64, intermediate_size: 96 };
  const sizes = { vocab_size: 512, max_position_embeddings: 64, rms_norm_eps: 1e-5, tie_word_embeddings: false };
  return { format: "gguf", path, bytes: 1, architecture: "LlamaForCausalLM", config: { ...config, ...sizes } };
}

async function load(backend: Backend, file: string): Promise<LanguageModel> {
  const path = isAbsolute(file) ? file : join(folder, file);
  const { variants } = await readManifest(path);
  const [model] = variants;
  const loaded = await backend.loadLanguage?.({ ...model, path } as never, cpu, { threads: 1 });
  if (loaded === undefined) throw new Error(`${backend.name} has no language models`);
  return loaded;
}

function largestDifference(actual: Float32Array, expected: Float32Array): number {
  return Math.max(...expected.map((value, index) => Math.abs(value - (actual[index] ?? Number.NaN))));
}

function cosine(left: Float32Array, right: Float32Array): number {
  const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
  return dot(left, right) / Math.sqrt(dot(left, left) * dot(right, right));
}

function floats(base64: string): Float32Array {
  const bytes = Buffer.from(base64, "base64");
  return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

describe.skipIf(skip)(title, () => {
  describe.each([
    { name: "native", create: native },
    { name: "llamacpp", create: llamacpp },
  ] as const)("on $name", ({ name, create }) => {
    const file = `${folder}/tiny-llama-f32.gguf`;
    const samples = (files[0]?.items ?? []).map(({ input_ids: prompt, greedy_12: continuation, last_token_logits: { data } }) => {
      return { prompt, continuation, logits: floats(data) };
    });
    const backend = create();
    const subject = { create, device: cpu, model: modelOf(file), samples, settings: { threads: 1 } };
    for (const { name: promise, run } of skip ? [] : languageCasesOnOneModel(subject))
      it(promise, async () => expect(await run()).toBeUndefined());

    // How llama.cpp decodes the other types is not ours to test: one file each time, all with TEST_SLOW=1.
    const own = runsAll || name === "native" ? files : files.slice(0, 1);
    it.each(own)("$file has the logits of PyTorch", async ({ file, type, items }) => {
      const tolerance = tolerances[name][type === "F32" ? "F32" : type.startsWith("TQ") ? "ternary" : "other"];
      const model = await load(backend, file);
      try {
        const read = runsAll || type === "F32" ? items : items.slice(0, 1);
        for (const { input_ids: prompt, greedy_12: greedy, greedy_margin: margin, last_token_logits: golden } of read) {
          const sequence = await model.createSequence();
          let [logits = new Float32Array()] = await model.decode([{ sequence, tokens: prompt }]);
          const expected = floats(golden.data);
          expect(logits).toHaveLength(expected.length);
          expect(largestDifference(logits, expected)).toBeLessThan(tolerance);
          expect(cosine(logits, expected)).toBeGreaterThan(minCosine);
          const tokens: number[] = [];
          for (let step = 0; step < greedy.length; step += 1) {
            tokens.push(logits.indexOf(Math.max(...logits)));
            [logits = new Float32Array()] = await model.decode([{ sequence, tokens: tokens.slice(-1) }]);
          }
          // Where the two highest logits are closer than the tolerance, either may come first.
          expect(margin > 2 * tolerance ? tokens : greedy).toEqual(greedy);
          await model.releaseSequence(sequence);
        }
      } finally {
        await model.dispose();
      }
    });
  });

  it.each(["native", "llamacpp"])("tinyllm writes English on %s, the same each time", async (target) => {
    const runtime = await createRuntime({ threads: 1, host: "inline" });
    try {
      const texts: string[] = [];
      for (let time = 0; time < 2; time += 1) {
        const { results, target: used } = await runtime.generate("Once upon a time", {
          model: `${sharedData}tinyllm/tinyllm.gguf`,
          maxNewTokens: 12,
          temperature: 0,
          target,
        });
        expect(used).toBe(`${target}:cpu`);
        texts.push(results[0]?.text ?? "");
      }
      expect(texts[0]).toBe(", there was a little girl named Lily. She");
      expect(texts[1]).toBe(texts[0]);
    } finally {
      await runtime.dispose();
    }
  });

  it("a model in parts is one model, and a part that is missing is named", async () => {
    const whole = await readGgufModel(`${folder}/tiny-llama-f32.gguf`, "whole.gguf", "everything");
    const bytes = readFileSync(`${folder}/tiny-llama-f32.gguf`);
    const parts = mkdtempSync(join(tmpdir(), "inferyard-gguf-parts-"));
    const pathOf = (part: number): string => join(parts, `tiny-0000${part + 1}-of-00002.gguf`);
    const tensors = [...whole.tensors.values()].map((tensor) => ({
      ...tensor,
      read: () => bytes.subarray(tensor.start, tensor.start + tensor.bytes),
    }));
    for (const [part, own] of [tensors.slice(0, 9), tensors.slice(9)].entries()) {
      const split = [
        ["split.no", part],
        ["split.count", 2],
      ] as const;
      const metadata = new Map([
        ...(part === 0 ? whole.metadata : []),
        ...split.map(([key, value]) => [key, { type: "uint16", value }] as const),
        ["split.tensors.count", { type: "int32", value: tensors.length }] as const,
      ]);
      writeFileSync(pathOf(part), Buffer.concat([...ggufParts(metadata, own)]));
    }
    const { input_ids: prompt = [], last_token_logits: golden } = files[0]?.items[0] ?? {};
    for (const create of [native, llamacpp]) {
      const model = await load(create(), pathOf(0));
      const [logits = new Float32Array()] = await model.decode([{ sequence: await model.createSequence(), tokens: prompt }]);
      expect(largestDifference(logits, floats(golden?.data ?? ""))).toBeLessThan(1e-4);
      await model.dispose();
    }
    await expect(readManifest(pathOf(1))).rejects.toMatchObject({ code: "MODEL_INVALID", message: /is part 2 of 2/ });
    rmSync(pathOf(1));
    await expect(readManifest(pathOf(0))).rejects.toThrow(/00002-of-00002/);
  });
});
