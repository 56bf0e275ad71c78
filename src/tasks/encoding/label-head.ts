/** Classification heads: label names, activations, and the output with the logits. */
import { tokenVectorNames } from "./encoder-outputs.ts";
import { unsupportedModel } from "../../contract/errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { TensorInfo } from "../../contract/tensor.ts";

/** Function from logits to scores. "softmax": probabilities that sum to 1. "sigmoid": an independent probability per label. "none": the logits. */
export type HeadActivation = "softmax" | "sigmoid" | "none";

/** All values of the option `activation`. */
export const headActivations: readonly HeadActivation[] = ["softmax", "sigmoid", "none"];

/** The classification head of a model. */
export interface LabelHead {
  /** Label names, in the order of the logits. */
  readonly labels: readonly string[];
  readonly activation: HeadActivation;
}

/**
 * Reads the classification head from config.json: labels from `id2label` or `num_labels`, the activation from `problem_type`, otherwise from the
 * number of labels, by the rules of transformers' text-classification pipeline. Throws MODEL_UNSUPPORTED if it states no labels.
 */
export function getLabelHead({ name, variants }: Manifest): LabelHead {
  const config = variants[0]?.config ?? {};
  const labels = getLabels(config);
  if (labels === undefined) {
    throw unsupportedModel(
      `${name} does not state its labels: config.json has no id2label`,
      "use a model with a classification head",
    );
  }
  return { labels, activation: getActivation(config, labels.length) };
}

function getLabels({ id2label, num_labels: count }: Readonly<Record<string, unknown>>): string[] | undefined {
  if (typeof id2label === "object" && id2label !== null) {
    const named = Object.entries(id2label as Record<string, unknown>);
    const labels = Array.from(named, (_entry, index) => (id2label as Record<string, unknown>)[String(index)]);
    if (labels.length > 0 && labels.every((label) => typeof label === "string")) return labels;
  }
  if (typeof count !== "number" || !Number.isSafeInteger(count) || count < 1 || count > 100_000) return undefined;
  return Array.from({ length: count }, (_label, index) => `LABEL_${index}`); // transformers' own names
}

function getActivation(config: Readonly<Record<string, unknown>>, labels: number): HeadActivation {
  const { problem_type: problem, function_to_apply: stated } = config;
  if (problem === "regression") return "none";
  if (problem === "multi_label_classification" || labels === 1) return "sigmoid";
  if (problem === "single_label_classification" || problem === undefined || problem === null) return "softmax";
  return headActivations.find((activation) => activation === stated) ?? "none";
}

/** A label with its score. */
export interface LabelScore {
  readonly label: string;
  /** A probability, or with activation "none" a logit. */
  readonly score: number;
}

/** Labels of texts, and the number of tokens read of each text. */
export interface Classifications {
  /** One list per text, in order; labels by descending score, equal scores in the order of the model's labels. */
  readonly results: readonly (readonly LabelScore[])[];
  /** Number of tokens the model read of each text, special tokens included. */
  readonly tokens: readonly number[];
  /** Indices of the texts that were truncated. */
  readonly truncated: readonly number[];
}

/** Applies an activation to the logits of one text or token. */
export function applyActivation(logits: Float32Array, activation: HeadActivation): Float32Array {
  if (activation === "none") return logits;
  if (activation === "sigmoid") return logits.map((logit) => 1 / (1 + Math.exp(-logit)));
  const highest = logits.reduce((max, logit) => Math.max(max, logit), Number.NEGATIVE_INFINITY);
  const powers = Float64Array.from(logits, (logit) => Math.exp(logit - highest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return Float32Array.from(powers, (power) => power / sum);
}

/**
 * Name of the output with the logits: `[batch, labels]` for `rank` 2, `[batch, tokens, labels]` for 3. It is "logits", otherwise the only output of
 * that rank which is not named as hidden states. Throws MODEL_UNSUPPORTED if there is none, or more than one candidate.
 */
export function logitsOutput(outputs: readonly TensorInfo[], rank: 2 | 3): string {
  const fitting = outputs.filter(({ name, shape }) => shape.length === rank && !tokenVectorNames.includes(name));
  const output = fitting.find(({ name }) => name === "logits") ?? (fitting.length === 1 ? fitting[0] : undefined);
  if (output !== undefined) return output.name;
  const given = outputs.map(({ name, shape }) => `${name} [${shape.join(", ")}]`).join(", ");
  throw unsupportedModel(
    `no output of this model holds logits; it has ${given}`,
    rank === 2 ? "use an export with a classification head" : "use an export with a token-classification head",
  );
}
