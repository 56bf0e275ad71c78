/** The task `audio-classification` (Hugging Face): scores of a classifier's labels for sounds. */
import { InferyardError } from "../../../contract/errors.ts";
import { checkOptions } from "../../../runtime/options/option.ts";
import type { MediaModel } from "../../definition/media-task.ts";
import { applyActivation, getLabelHead, type LabelScore } from "../../encoding/label-head.ts";
import { prepareSoundGraph, runSound } from "../sound-graph.ts";
import { readSound, type SoundInput } from "../sound-input.ts";
import { type ClassifySoundOptions, classifySoundOptions } from "./classify-sound-options.ts";

/** Labels of sounds. */
export interface SoundClassifications {
  /** One list per sound, in order; labels by descending score, equal scores in the order of the model's labels. */
  readonly results: readonly (readonly LabelScore[])[];
}

/** The longest sound in seconds that is read as a whole: networks of attention need memory with its square. */
const maxSeconds = 300;

/** Throws INPUT_INVALID for options that no model can obey. */
export function checkClassifySound(_sounds: readonly SoundInput[], options: ClassifySoundOptions): void {
  checkOptions(classifySoundOptions, options);
}

/** Classifies sounds by the model's labels. Throws MODEL_UNSUPPORTED for a model without a classification head, INPUT_TOO_LONG for a sound of more than 5 minutes. */
export async function classifySound(
  model: MediaModel,
  sounds: readonly SoundInput[],
  { topK, activation, signal }: ClassifySoundOptions,
): Promise<SoundClassifications> {
  const head = getLabelHead(model.manifest);
  const graph = await prepareSoundGraph(model);
  const { sampleRate } = graph.extractor;
  const results: LabelScore[][] = [];
  for (const sound of sounds) {
    const samples = await readSound(sound, { sampleRate, signal });
    if (samples.length > maxSeconds * sampleRate)
      throw new InferyardError(
        "INPUT_TOO_LONG",
        `the sound lasts ${Math.round(samples.length / sampleRate)} seconds; ${maxSeconds} are classified at most`,
        {
          remedy: "cut it into parts",
        },
      );
    const { shape, data } = await runSound(graph, samples, signal);
    if (shape.length !== 1 || data.length !== head.labels.length)
      throw new InferyardError(
        "MODEL_INVALID",
        `${model.manifest.name} states ${head.labels.length} labels, and its graph has scores of [${shape.join(", ")}]`,
      );
    const scores = applyActivation(data, activation ?? head.activation);
    const named = Array.from(scores, (score, index) => ({ label: head.labels[index] ?? "", score }));
    results.push(named.sort((a, b) => b.score - a.score).slice(0, topK));
  }
  return { results };
}
