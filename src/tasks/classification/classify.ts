/** text-classification: the labels of a text with their scores, as transformers' pipeline of that name gives them. */
import { InferyardError } from "../../errors.ts";
import { refuseNonPositive, refuseUnlisted } from "../../runtime/options/options.ts";
import { type TextPair, encodePairs } from "../shared/encode-pairs.ts";
import { type Encoder, runEncodings } from "../batching/run-encodings.ts";
import {
  type Activation,
  type Classifications,
  type LabelScore,
  applyActivation,
  activations,
  labelHeadOf,
  logitsOutput,
  requireFinite,
} from "../shared/label-head.ts";
import { classifyZeroShot } from "./zero-shot.ts";
import { type TextTaskOptions, textTaskOptionNames, textTaskSettings } from "../shared/task-options.ts";

export interface ClassifyOptions extends TextTaskOptions {
  /** How many labels of each text are given, best first. Default: all. */
  readonly topK?: number;
  /** How logits become scores. Default: what config.json says (`problem_type`, else by the number of labels). */
  readonly activation?: Activation;
  /** Labels of your own, judged by a natural-language-inference model (zero-shot). Default: the model's own labels. */
  readonly labels?: readonly string[];
  /** With `labels`: the sentence that is asked about, with {} where the label stands. Default: "This example is {}." */
  readonly hypothesisTemplate?: string;
  /** With `labels`: true judges each by itself, false lets them share 1. Default: false. */
  readonly multiLabel?: boolean;
}

export const classifyOptionNames: readonly (keyof ClassifyOptions)[] = [
  ...textTaskOptionNames,
  "topK",
  "activation",
  "labels",
  "hypothesisTemplate",
  "multiLabel",
];

/** Texts, or pairs that the model judges together. */
export async function classify(
  encoder: Encoder,
  texts: readonly (string | TextPair)[],
  options: ClassifyOptions = {},
): Promise<Classifications> {
  refuseNonPositive("topK", options.topK);
  refuseUnlisted("activation", options.activation, activations);
  if (options.labels !== undefined) {
    refuseBeside("labels", options, ["activation"]);
    return classifyZeroShot(encoder, texts.map(aloneText), { ...options, labels: options.labels });
  }
  refuseBeside("the model's own labels", options, ["hypothesisTemplate", "multiLabel"]);
  const settings = textTaskSettings(encoder.manifest, options);
  const { labels, activation } = labelHeadOf(encoder.manifest);
  const output = logitsOutput(encoder.outputs, 2);
  const pairs = texts.map((text) => (typeof text === "object" && text !== null ? text : { text }));
  const limits = { ...settings, strategy: "longest_first", name: (index: number) => `text ${index}` } as const;
  const encodings = await encodePairs(encoder.tokenizer, pairs, limits, options.signal);
  const results: LabelScore[][] = Array.from({ length: encodings.length }, () => []);
  const wanted = {
    output,
    batchTokens: settings.batchTokens,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
  await runEncodings(encoder, encodings, wanted, ({ index, data, offset, shape }) => {
    const logits = data.slice(offset, offset + (shape[0] ?? 0));
    requireFinite(logits, index);
    results[index] = ranked(applyActivation(logits, options.activation ?? activation), labels).slice(0, options.topK);
  });
  return {
    results,
    tokens: encodings.map(({ ids }) => ids.length),
    truncated: encodings.flatMap(({ truncated }, index) => (truncated ? [index] : [])),
  };
}

function aloneText(text: string | TextPair): string {
  if (typeof text !== "object" || text === null) return text;
  throw new InferyardError(
    "INPUT_INVALID",
    "labels of your own are the second text of every pair, so a text cannot bring its own",
    {
      remedy: "give texts alone, or leave `labels` out",
    },
  );
}

/** An option that would be ignored is refused. */
function refuseBeside(what: string, options: ClassifyOptions, names: readonly (keyof ClassifyOptions)[]): void {
  const given = names.find((name) => options[name] !== undefined);
  if (given === undefined) return;
  throw new InferyardError("INPUT_INVALID", `"${given}" says nothing for ${what}`, { remedy: `leave "${given}" out` });
}

function ranked(scores: Float32Array, labels: readonly string[]): LabelScore[] {
  const named = Array.from(scores, (score, index) => ({ label: labels[index] ?? `LABEL_${index}`, score }));
  return named.sort((a, b) => b.score - a.score);
}
