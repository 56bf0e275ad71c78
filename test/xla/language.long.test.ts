/** Language models on XLA: the conformance suite, with answers of transformers, and what is left of a sequence after a run that failed. */
import { existsSync, readFileSync } from "node:fs";
import type { LanguageModelFiles } from "inferyard/backend";
import { xla } from "inferyard/backends/xla";
import type { LanguageConformanceSubject, LanguageSample } from "inferyard/testing";
import { describe, expect, it } from "vitest";
import { languageCasesOnOneModel } from "../fixtures/cases-on-one-model.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { onRequest } from "../fixtures/slow.ts";
import { pjrtPlugin } from "./fixtures/pjrt-plugins.ts";

const plugin = await pjrtPlugin();
const path = "path" in plugin ? plugin.path : "";
const create = (): ReturnType<typeof xla> => xla({ plugin: path });
const cpu = { type: "cpu", index: 0 };
/** Folder, file, and the precision of the caches. Those that are not of each run have the kinds of attention of others. */
const models = [
  { name: "tiny-random-gpt2", file: "onnx/model.onnx", isOfSample: true },
  { name: "tiny-random-t5", file: "model.safetensors", isOfSample: true },
  { name: "tiny-random-llama", file: "model.safetensors", cachePrecision: "fp16", isOfSample: true },
  { name: "tiny-random-gpt2", file: "model.safetensors" },
  { name: "tiny-random-llama", file: "onnx/model.onnx" },
  { name: "tiny-random-qwen2", file: "model.safetensors" },
  { name: "tiny-random-gemma", file: "model.safetensors" },
  { name: "tiny-random-gemma", file: "onnx/model.onnx" },
  { name: "tiny-random-bart", file: "model.safetensors" },
  { name: "tiny-random-t5", file: "model.safetensors", cachePrecision: "fp16" },
] as const;

for (const { name, file, ...settings } of models) {
  const precision = "cachePrecision" in settings ? settings.cachePrecision : "fp32";
  const [isMissing, heading] = needsData(`${name} from ${file} with caches in ${precision}`);
  const [isLeftOut, title] = "isOfSample" in settings ? [false, heading] : onRequest(heading);
  const skip = isMissing || isLeftOut || "reason" in plugin;
  describe.skipIf(skip)("reason" in plugin ? `${title} (skipped: ${plugin.reason})` : title, () => {
    if (skip) return;
    const samples = samplesIn(name);
    const largest = samples.flatMap(({ logits = [] }) => [...logits]).reduce((max, each) => Math.max(max, Math.abs(each)), 0);
    const subject: LanguageConformanceSubject = {
      create,
      device: cpu,
      model: filesOf(name, file),
      samples,
      settings: { cachePrecision: precision },
      ...(precision === "fp16" ? { tolerance: largest / 400, repeatTolerance: 1e-3 } : {}), // a rounding to 11 bits is 0.0005 of a key
    };
    for (const { name: promise, run } of languageCasesOnOneModel(subject))
      it(promise, async () => expect(await run()).toBeUndefined());
  });
}

function filesOf(name: string, file: string): LanguageModelFiles {
  const folder = `${sharedData}${name}/`;
  const stated = existsSync(`${folder}config.json`) ? readFileSync(`${folder}config.json`, "utf8") : "{}";
  const config = JSON.parse(stated) as Readonly<Record<string, unknown>> & { readonly architectures?: readonly [string] };
  const format = file.endsWith(".onnx") ? "onnx" : "safetensors";
  return { format, bytes: 1, config, architecture: config.architectures?.[0] ?? "", path: `${folder}${file}` };
}

interface Item {
  readonly input_ids: readonly number[];
  readonly generated_ids: readonly number[];
  readonly decoder_start_token_id?: number;
  readonly prompt_logits?: { readonly data: string };
  readonly first_step_logits?: { readonly data: string };
}

function samplesIn(name: string): readonly LanguageSample[] {
  const { items } = JSON.parse(readFileSync(`${sharedData}${name}/goldens.json`, "utf8")) as { items: readonly Item[] };
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
