/** text-classification: the labels of a text with their scores, as transformers' pipeline of that name gives them. */
import { refuseNonPositive, refuseOther } from "../runtime/options.ts";
import { encodeTexts } from "./encode-texts.ts";
import { type Encoder, runEncodings } from "./encoder-runs.ts";
import { type Activation, activate, activations, labelHeadOf, logitsOutput, refuseBroken } from "./labels.ts";
import { type TextTaskOptions, textTaskOptionNames, textTaskSettings } from "./task-options.ts";

export interface ClassifyOptions extends TextTaskOptions {
  /** How many labels of each text are given, best first. Default: all. */
  readonly topK?: number;
  /** How logits become scores. Default: what config.json says (`problem_type`, else by the number of labels). */
  readonly activation?: Activation;
}

export const classifyOptionNames: readonly (keyof ClassifyOptions)[] = [...textTaskOptionNames, "topK", "activation"];

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

export async function classify(
  encoder: Encoder,
  texts: readonly string[],
  options: ClassifyOptions = {},
): Promise<Classifications> {
  refuseNonPositive("topK", options.topK);
  refuseOther("activation", options.activation, activations);
  const settings = textTaskSettings(encoder.manifest, options);
  const { labels, activation } = labelHeadOf(encoder.manifest);
  const output = logitsOutput(encoder.outputs, 2);
  const encodings = await encodeTexts(encoder.tokenizer, texts, settings, options.signal);
  const results: LabelScore[][] = Array.from({ length: encodings.length }, () => []);
  const wanted = {
    output,
    batchTokens: settings.batchTokens,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  };
  await runEncodings(encoder, encodings, wanted, ({ index, data, offset, shape }) => {
    const logits = data.slice(offset, offset + (shape[0] ?? 0));
    refuseBroken(logits, index);
    results[index] = ranked(activate(logits, options.activation ?? activation), labels).slice(0, options.topK);
  });
  return {
    results,
    tokens: encodings.map(({ ids }) => ids.length),
    truncated: encodings.flatMap(({ truncated }, index) => (truncated ? [index] : [])),
  };
}

function ranked(scores: Float32Array, labels: readonly string[]): LabelScore[] {
  const named = Array.from(scores, (score, index) => ({ label: labels[index] ?? `LABEL_${index}`, score }));
  return named.sort((a, b) => b.score - a.score);
}
