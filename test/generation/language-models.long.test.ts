/** Language models on each backend: the conformance suite, with answers of transformers. */
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Backend, LanguageModelFiles } from "inferyard/backend";
import { onnx } from "inferyard/backends/onnx";
import { native } from "inferyard/backends/native";
import { wasm } from "inferyard/backends/wasm";
import { type LanguageSample, languageCases } from "inferyard/testing";
import { describe, expect, it } from "vitest";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { onRequest } from "../fixtures/slow.ts";

const cpu = { type: "cpu", index: 0 };
const backends: Readonly<Record<string, () => Backend>> = { onnx, wasm, native };
/** Paths from the folder that the first word of the name says. */
type ModelPaths = Pick<LanguageModelFiles, "path" | "decoderWithPast" | "encoder">;
const models: Readonly<Record<string, ModelPaths>> = {
  "tiny-random-gpt2": { path: "onnx/model.onnx" },
  "tiny-random-llama": { path: "onnx/model.onnx" },
  "tiny-random-qwen2": { path: "onnx/model.onnx" },
  "tiny-random-gemma": { path: "onnx/model.onnx" },
  "tiny-random-t5": { path: "onnx/decoder_model_merged.onnx", encoder: "onnx/encoder_model.onnx" },
  "tiny-random-t5 as two files": {
    path: "onnx/decoder_model.onnx",
    decoderWithPast: "onnx/decoder_with_past_model.onnx",
    encoder: "onnx/encoder_model.onnx",
  },
  "tiny-random-bart": { path: "onnx/decoder_model_merged.onnx", encoder: "onnx/encoder_model.onnx" },
  "gpt2-tiny-random": { path: "past.onnx" },
  "marian-tiny-random": { path: "decoder.onnx", encoder: "encoder.onnx" },
  "tiny-random-gpt2 from safetensors": { path: "model.safetensors" },
  "tiny-random-llama from safetensors": { path: "model.safetensors" },
  "tiny-random-qwen2 from safetensors": { path: "model.safetensors" },
  "tiny-random-gemma from safetensors": { path: "model.safetensors" },
  "tiny-random-t5 from safetensors": { path: "model.safetensors" },
};

interface Item {
  readonly input_ids: readonly number[];
  readonly generated_ids: readonly number[];
  readonly decoder_start_token_id?: number;
  readonly prompt_logits?: { readonly data: string };
  readonly first_step_logits?: { readonly data: string };
}

/** Of each run: every way to hold states, with and without an encoder, from each format, on each backend. */
const sample: ReadonlySet<string> = new Set([
  "gpt2-tiny-random with caches in float16",
  "tiny-random-t5 from safetensors with caches in float16",
  "tiny-random-gpt2 on onnx",
  "tiny-random-qwen2 on onnx",
  "tiny-random-t5 as two files on onnx",
  "tiny-random-bart on onnx",
  "gpt2-tiny-random on onnx",
  "marian-tiny-random on onnx",
  "tiny-random-t5 on wasm",
  "tiny-random-llama on native",
  "gpt2-tiny-random on native",
  "marian-tiny-random on native",
  "tiny-random-bart on native",
  "tiny-random-qwen2 from safetensors on native",
  "tiny-random-gemma from safetensors on native",
]);
const ofSample = (subject: string, title: string): [skip: boolean, title: string] =>
  sample.has(subject) ? [false, title] : onRequest(title);

/** Of each way to hold states: keys and values apart or in one tensor, with grouped heads, beside what a decoder reads of its source. */
const withHalfCaches = [
  "tiny-random-gpt2",
  "gpt2-tiny-random",
  "tiny-random-llama from safetensors",
  "tiny-random-gemma from safetensors",
  "tiny-random-t5 from safetensors",
];
for (const name of withHalfCaches) {
  const folder = `${sharedData}${name.split(" ")[0]}/`;
  const [skip, title] = needsData(`${name} on native with caches in float16`);
  const [isLeftOut, heading] = ofSample(`${name} with caches in float16`, title);
  describe.skipIf(skip || isLeftOut)(heading, () => {
    const samples = skip ? [] : samplesOf(folder);
    const largest = samples.flatMap(({ logits = [] }) => [...logits]).reduce((max, each) => Math.max(max, Math.abs(each)), 0);
    const cases = languageCases({
      create: native,
      device: cpu,
      settings: { cachePrecision: "fp16" },
      model: filesOf(folder, models[name]!),
      samples,
      tolerance: largest / 400, // a rounding to 11 bits is 0.0005 of a key, and scores are sums of them
      repeatTolerance: 1e-3,
    });
    for (const { name: promise, run } of skip ? [] : cases) it(promise, async () => expect(await run()).toBeUndefined());
  });
}

for (const [backend, create] of Object.entries(backends)) {
  for (const [name, files] of Object.entries(models)) {
    if (files.path.endsWith(".safetensors") && backend !== "native") continue; // the others read ONNX only
    if (backend === "native" && name.endsWith("two files")) continue; // it compiles for each number of tokens; the pair is joined by code that onnx shares
    if (backend === "wasm" && !["tiny-random-llama", "tiny-random-t5"].includes(name)) continue; // slow to load; it shares all code but the session with onnx
    const folder = `${sharedData}${name.split(" ")[0]}/`;
    const [skip, title] = needsData(`${name} on ${backend}`);
    const [isLeftOut, heading] = ofSample(`${name} on ${backend}`, title);
    describe.skipIf(skip || isLeftOut)(heading, () => {
      const subject = skip ? undefined : { create, device: cpu, model: filesOf(folder, files), samples: samplesOf(folder) };
      for (const { name: promise, run } of subject === undefined ? [] : languageCases(subject))
        it(promise, async () => expect(await run()).toBeUndefined());
    });
  }
}

function filesOf(folder: string, { path, ...beside }: ModelPaths): LanguageModelFiles {
  const stated = existsSync(`${folder}config.json`) ? readFileSync(`${folder}config.json`, "utf8") : "{}";
  const config = JSON.parse(stated) as Readonly<Record<string, unknown>> & { readonly architectures?: readonly [string] };
  const others = Object.fromEntries(Object.entries(beside).map(([role, file]) => [role, `${folder}${file}`]));
  const format = path.endsWith(".onnx") ? "onnx" : "safetensors";
  return { format, bytes: 1, config, architecture: config.architectures?.[0] ?? "", path: `${folder}${path}`, ...others };
}

/** Answers of onnxruntime-genai (its own tests, GreedySearchGptFp32), and for Marian those that its graph of constants computes: the number of tokens of the source. */
const genaiSamples: Readonly<Record<string, readonly LanguageSample[]>> = {
  "gpt2-tiny-random": [
    { prompt: [0, 0, 0, 52], continuation: [204, 204, 204, 204, 204, 204] },
    { prompt: [0, 0, 195, 731], continuation: [731, 114, 114, 114, 114, 114] },
  ],
  "marian-tiny-random": [
    { source: [7, 8, 9], prompt: [32000], continuation: [3, 3, 3, 3, 3] },
    { source: [5, 6], prompt: [32000], continuation: [2, 2, 2, 2, 2] },
    { source: [11], prompt: [32000], continuation: [1, 1, 1, 1, 1] },
  ],
};

function samplesOf(folder: string): readonly LanguageSample[] {
  const known = genaiSamples[basename(folder)];
  if (known !== undefined) return known;
  const { items } = JSON.parse(readFileSync(`${folder}goldens.json`, "utf8")) as { items: readonly Item[] };
  return items.map(({ input_ids, generated_ids, decoder_start_token_id: start, prompt_logits, first_step_logits }) => {
    const data = Buffer.from((first_step_logits ?? prompt_logits)?.data ?? "", "base64");
    const all = Float32Array.from({ length: data.length / 4 }, (_, index) => data.readFloatLE(index * 4));
    const positions = first_step_logits === undefined ? input_ids.length : 1;
    const logits = all.slice(-all.length / positions);
    return start === undefined
      ? { prompt: input_ids, continuation: generated_ids, logits }
      : { source: input_ids, prompt: [start], continuation: generated_ids, logits };
  });
}
