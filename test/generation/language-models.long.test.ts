/** Language models on each backend: the conformance suite, with answers of transformers. */
import type { Backend } from "inferyard/backend";
import { onnx } from "inferyard/backends/onnx";
import { native } from "inferyard/backends/native";
import { wasm } from "inferyard/backends/wasm";
import { languageCases } from "inferyard/testing";
import { describe, expect, it } from "vitest";
import { type ModelPaths, filesOf, samplesOf } from "../fixtures/language-subjects.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { onRequest } from "../fixtures/slow.ts";

const cpu = { type: "cpu", index: 0 };
const backends: Readonly<Record<string, () => Backend>> = { onnx, wasm, native };
/** Paths from the folder that the first word of the name says. */
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
