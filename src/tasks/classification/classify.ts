/** Task `text-classification` (Hugging Face): scores of a classifier's labels, equal to transformers' pipeline of that name. */
import { at } from "../../contract/checked.ts";
import { readCounts } from "../encoding/read-counts.ts";
import { invalidInput } from "../../contract/errors.ts";
import { type TextPair, encodePairs } from "../encoding/encode-pairs.ts";
import { type Encoder, runEncodings } from "../batching/run-encodings.ts";
import { type Classifications, type LabelScore, applyActivation, getLabelHead, logitsOutput } from "../encoding/label-head.ts";
import { requireFinite } from "../encoding/require-finite.ts";
import { classifyZeroShot } from "./zero-shot.ts";
import { checkOptions } from "../../runtime/options/option.ts";
import { textTaskSettings } from "../definition/task-options.ts";
import { classifyOptions } from "./classify-options.ts";
import type { ClassifyOptions } from "./generated-classify-options.ts";

/** Classifies texts, or pairs of texts that the model reads together. Throws MODEL_UNSUPPORTED for a model without a classification head. */
export async function classify(
  encoder: Encoder,
  texts: readonly (string | TextPair)[],
  options: ClassifyOptions = {},
): Promise<Classifications> {
  checkOptions(classifyOptions, options);
  if (options.labels !== undefined) {
    refuseUnused("labels", options, ["activation"]);
    return classifyZeroShot(encoder, texts.map(requireSingleText), { ...options, labels: options.labels });
  }
  refuseUnused("the model's own labels", options, ["hypothesisTemplate", "multiLabel"]);
  const settings = textTaskSettings(encoder.manifest, options);
  const { labels, activation } = getLabelHead(encoder.manifest);
  const output = logitsOutput(encoder.outputs, 2);
  const pairs = texts.map((text) => (typeof text === "object" && text !== null ? text : { text }));
  const limits = { ...settings, strategy: "longest_first", name: (index: number) => `text ${index}` } as const;
  const encodings = await encodePairs(encoder.tokenizer, pairs, limits, options.signal);
  const results: LabelScore[][] = Array.from({ length: encodings.length }, () => []);
  const run = {
    output,
    batchTokens: settings.batchTokens,
    signal: options.signal,
  };
  await runEncodings(encoder, encodings, run, ({ index, data, offset, shape }) => {
    const logits = data.slice(offset, offset + at(shape, 0));
    requireFinite(logits, index);
    results[index] = ranked(applyActivation(logits, options.activation ?? activation), labels).slice(0, options.topK);
  });
  return {
    results,
    ...readCounts(encodings),
  };
}

function requireSingleText(text: string | TextPair): string {
  if (typeof text !== "object" || text === null) return text;
  throw invalidInput(
    "with `labels` every text is paired with each label, so an input cannot be a pair itself",
    "give single texts, or leave `labels` out",
  );
}

/** Throws INPUT_INVALID for an option that would have no effect. */
function refuseUnused(what: string, options: ClassifyOptions, names: readonly (keyof ClassifyOptions)[]): void {
  const given = names.find((name) => options[name] !== undefined);
  if (given === undefined) return;
  throw invalidInput(`"${given}" has no effect with ${what}`, `leave "${given}" out`);
}

function ranked(scores: Float32Array, labels: readonly string[]): LabelScore[] {
  const named = Array.from(scores, (score, index) => ({ label: labels[index] ?? `LABEL_${index}`, score }));
  return named.sort((a, b) => b.score - a.score);
}
