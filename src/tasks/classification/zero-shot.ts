/**
 * Task `zero-shot-classification` (Hugging Face): scores labels that the model was not trained on. A natural-language-inference model judges
 * whether the hypothesis "This example is LABEL." follows from the text (Yin et al. 2019), as in transformers' pipeline.
 */
import { at } from "../../contract/checked.ts";
import { invalidInput, unsupportedModel } from "../../contract/errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import { encodePairs } from "../encoding/encode-pairs.ts";
import { type Encoder, runEncodings } from "../batching/run-encodings.ts";
import { type Classifications, applyActivation, getLabelHead, logitsOutput } from "../encoding/label-head.ts";
import { requireFinite } from "../encoding/require-finite.ts";
import { textTaskSettings } from "../definition/task-options.ts";
import type { ClassifyOptions } from "./generated-classify-options.ts";

/** Options of `classifyZeroShot`. */
export interface ZeroShotOptions extends Omit<ClassifyOptions, "labels" | "activation"> {
  /** Candidate labels, at least one. */
  readonly labels: readonly string[];
}

const defaultTemplate = "This example is {}.";

/** Scores every label for every text; only the text of a pair that is too long is truncated. Throws MODEL_UNSUPPORTED without an entailment label. */
export async function classifyZeroShot(
  encoder: Encoder,
  texts: readonly string[],
  options: ZeroShotOptions,
): Promise<Classifications> {
  const { labels, hypothesisTemplate = defaultTemplate, multiLabel = false, topK, signal } = options;
  checkLabels(labels, hypothesisTemplate);
  const settings = textTaskSettings(encoder.manifest, options);
  const head = getEntailmentHead(encoder.manifest);
  const output = logitsOutput(encoder.outputs, 2);
  const hypotheses = labels.map((label) => hypothesisTemplate.replaceAll("{}", () => label));
  const premises = texts.flatMap((text) => hypotheses.map((pair) => ({ text, pair })));
  const name = (index: number): string => `text ${Math.floor(index / labels.length)} and a label`;
  const limits = { ...settings, strategy: "only_first", name } as const;
  const pairs = await encodePairs(encoder.tokenizer, premises, limits, signal);
  const logits: Float32Array[] = Array.from({ length: pairs.length }, () => new Float32Array());
  const run = { output, batchTokens: settings.batchTokens, signal };
  await runEncodings(encoder, pairs, run, ({ index, data, offset, shape }) => {
    const row = data.slice(offset, offset + at(shape, 0));
    requireFinite(row, Math.floor(index / labels.length));
    logits[index] = row;
  });
  const results = texts.map((_text, index) => {
    const textLogits = logits.slice(index * labels.length, (index + 1) * labels.length);
    const scores = getScores(textLogits, head, multiLabel || labels.length === 1);
    const named = labels.map((label, labelIndex) => ({ label, score: at(scores, labelIndex) }));
    return named.sort((a, b) => b.score - a.score).slice(0, topK);
  });
  return {
    results,
    tokens: texts.map((_text, index) => at(pairs, index * labels.length).ids.length),
    truncated: texts.flatMap((_text, index) =>
      pairs.slice(index * labels.length, (index + 1) * labels.length).some(({ truncated }) => truncated) ? [index] : [],
    ),
  };
}

/** Independent: softmax over entailment and contradiction, per label. Otherwise softmax over the entailment logits. As in transformers' pipeline. */
function getScores(
  logits: readonly Float32Array[],
  { entailment, contradiction }: EntailmentHead,
  independent: boolean,
): ArrayLike<number> {
  if (!independent)
    return applyActivation(
      Float32Array.from(logits, (row) => at(row, entailment)),
      "softmax",
    );
  return logits.map((row) => {
    const both = Float32Array.of(at(row, contradiction), at(row, entailment));
    return applyActivation(both, "softmax")[1] ?? Number.NaN;
  });
}

interface EntailmentHead {
  readonly entailment: number;
  readonly contradiction: number;
}

function getEntailmentHead(manifest: Manifest): EntailmentHead {
  const { labels } = getLabelHead(manifest);
  const entailment = labels.findIndex((label) => label.toLowerCase().startsWith("entail"));
  if (entailment !== -1 && labels.length >= 2) {
    return { entailment, contradiction: entailment === 0 ? labels.length - 1 : 0 };
  }
  throw unsupportedModel(
    `${manifest.name} has no label that says entailment (it has ${labels.slice(0, 4).join(", ")}), so it cannot judge labels of your own`,
    "use a natural-language-inference model, or leave `labels` out",
  );
}

function checkLabels(labels: readonly string[], template: string): void {
  if (!Array.isArray(labels) || labels.length === 0 || labels.some((label) => typeof label !== "string" || label === "")) {
    throw invalidInput("labels must be an array of at least one word", 'for example ["sport", "politics"]');
  }
  if (typeof template === "string" && template.includes("{}")) return;
  throw invalidInput(
    `the hypothesis template ${JSON.stringify(template)} has no {} for the label`,
    `for example ${JSON.stringify(defaultTemplate)}`,
  );
}
