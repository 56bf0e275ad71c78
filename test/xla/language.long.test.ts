/** Language models on XLA: the conformance suite, with answers of transformers, for each way to hold keys and values. */
import { xla } from "inferyard/backends/xla";
import type { LanguageConformanceSubject } from "inferyard/testing";
import { describe, expect, it } from "vitest";
import { languageCasesOnOneModel } from "../fixtures/cases-on-one-model.ts";
import { filesOf, samplesOf } from "../fixtures/language-subjects.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { onRequest } from "../fixtures/slow.ts";
import { needsPlugin, pjrtPlugin } from "./fixtures/pjrt-plugins.ts";

const fetched = await pjrtPlugin();
/** Those of each run have caches of ONNX files, sources, and caches in float16. */
const models = [
  { name: "tiny-random-gpt2", path: "onnx/model.onnx", precision: "fp32", isOfSample: true },
  { name: "tiny-random-t5", path: "model.safetensors", precision: "fp32", isOfSample: true },
  { name: "tiny-random-llama", path: "model.safetensors", precision: "fp16", isOfSample: true },
  { name: "tiny-random-gpt2", path: "model.safetensors", precision: "fp32", isOfSample: false },
  { name: "tiny-random-llama", path: "onnx/model.onnx", precision: "fp32", isOfSample: false },
  { name: "tiny-random-qwen2", path: "model.safetensors", precision: "fp32", isOfSample: false },
  { name: "tiny-random-gemma", path: "model.safetensors", precision: "fp32", isOfSample: false },
  { name: "tiny-random-gemma", path: "onnx/model.onnx", precision: "fp32", isOfSample: false },
  { name: "tiny-random-bart", path: "model.safetensors", precision: "fp32", isOfSample: false },
  { name: "tiny-random-t5", path: "model.safetensors", precision: "fp16", isOfSample: false },
] as const;

for (const { name, path, precision, isOfSample } of models) {
  const [noData, dataTitle] = needsData(`${name} from ${path} with caches in ${precision}`);
  const [noPlugin, pluginTitle, plugin] = needsPlugin(dataTitle, fetched);
  const [isLeftOut, title] = isOfSample ? [false, pluginTitle] : onRequest(pluginTitle);
  const skip = noData || noPlugin || isLeftOut;
  describe.skipIf(skip)(title, () => {
    if (skip) return;
    const folder = `${sharedData}${name}/`;
    const samples = samplesOf(folder);
    const largest = samples.flatMap(({ logits = [] }) => [...logits]).reduce((max, each) => Math.max(max, Math.abs(each)), 0);
    const subject: LanguageConformanceSubject = {
      create: () => xla({ plugin }),
      device: { type: "cpu", index: 0 },
      model: filesOf(folder, { path }),
      samples,
      settings: { cachePrecision: precision },
      ...(precision === "fp16" ? { tolerance: largest / 400, repeatTolerance: 1e-3 } : {}), // a rounding to 11 bits is 0.0005 of a key
    };
    for (const { name: promise, run } of languageCasesOnOneModel(subject))
      it(promise, async () => expect(await run()).toBeUndefined());
  });
}
