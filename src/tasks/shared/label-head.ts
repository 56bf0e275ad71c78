/** Label heads: what the numbers of a classifier are called, and how they become scores. */
import { InferyardError } from "../../errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { TensorInfo } from "../../tensor.ts";

/** How logits become scores. "softmax": shares of 1 over the labels. "sigmoid": each label by itself. "none": the logits. */
export type Activation = "softmax" | "sigmoid" | "none";

export const activations: readonly Activation[] = ["softmax", "sigmoid", "none"];

export interface LabelHead {
  /** In the order of the model's outputs. */
  readonly labels: readonly string[];
  readonly activation: Activation;
}

/**
 * What config.json says: `id2label` (or `num_labels`), and the activation by `problem_type`, else by the number of labels, as
 * transformers' text-classification pipeline decides it.
 */
export function labelHeadOf({ name, variants }: Manifest): LabelHead {
  const config = variants[0]?.config ?? {};
  const labels = labelsOf(config);
  if (labels === undefined) {
    throw new InferyardError("MODEL_UNSUPPORTED", `${name} does not say what its labels are: config.json has no id2label`, {
      remedy: "use a model with a classification head",
    });
  }
  return { labels, activation: activationOf(config, labels.length) };
}

function labelsOf({ id2label, num_labels: count }: Readonly<Record<string, unknown>>): string[] | undefined {
  if (typeof id2label === "object" && id2label !== null) {
    const named = Object.entries(id2label as Record<string, unknown>);
    const labels = Array.from(named, (_entry, index) => (id2label as Record<string, unknown>)[String(index)]);
    if (labels.length > 0 && labels.every((label) => typeof label === "string")) return labels;
  }
  if (typeof count !== "number" || !Number.isSafeInteger(count) || count < 1 || count > 100_000) return undefined;
  return Array.from({ length: count }, (_label, index) => `LABEL_${index}`); // transformers' own names
}

function activationOf(config: Readonly<Record<string, unknown>>, labels: number): Activation {
  const { problem_type: problem, function_to_apply: stated } = config;
  if (problem === "regression") return "none";
  if (problem === "multi_label_classification" || labels === 1) return "sigmoid";
  if (problem === "single_label_classification" || problem === undefined || problem === null) return "softmax";
  return activations.find((activation) => activation === stated) ?? "none";
}

export interface LabelScore {
  readonly label: string;
  readonly score: number;
}

export interface Classifications {
  /** One list per text, in order; best label first, equal scores in the order of the model's labels. */
  readonly results: readonly (readonly LabelScore[])[];
  /** Tokens the model saw of each text, special tokens included. */
  readonly tokens: readonly number[];
  /** Indices of the texts that were cut. */
  readonly truncated: readonly number[];
}

/** Scores of one row of logits. */
export function applyActivation(logits: Float32Array, activation: Activation): Float32Array {
  if (activation === "none") return logits;
  if (activation === "sigmoid") return logits.map((logit) => 1 / (1 + Math.exp(-logit)));
  const highest = logits.reduce((most, logit) => Math.max(most, logit), Number.NEGATIVE_INFINITY);
  const powers = Float64Array.from(logits, (logit) => Math.exp(logit - highest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return Float32Array.from(powers, (power) => power / sum);
}

/** The output with one number per label (`rank` 2: per text; 3: per token). MODEL_UNSUPPORTED where there is none. */
export function logitsOutput(outputs: readonly TensorInfo[], rank: 2 | 3): string {
  const fitting = outputs.filter(({ shape }) => shape.length === rank);
  const output = fitting.find(({ name }) => name === "logits") ?? (fitting.length === 1 ? fitting[0] : undefined);
  if (output !== undefined) return output.name;
  const given = outputs.map(({ name, shape }) => `${name} [${shape.join(", ")}]`).join(", ");
  throw new InferyardError("MODEL_UNSUPPORTED", `no output of this model holds logits; it gives ${given}`, {
    remedy: rank === 2 ? "use an export with a classification head" : "use an export with a token-classification head",
  });
}

/** RUN_FAILED for a number that is none: a label chosen from it would be made up. */
export function requireFinite(logits: Float32Array, index: number): void {
  const broken = logits.findIndex((value) => !Number.isFinite(value));
  if (broken === -1) return;
  throw new InferyardError("RUN_FAILED", `the model gave a value that is not a number for text ${index}`, {
    remedy: "try another variant or target",
    data: { text: index, component: broken },
  });
}
