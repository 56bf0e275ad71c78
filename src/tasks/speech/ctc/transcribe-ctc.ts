/** Transcription by models of CTC (wav2vec2, HuBERT, WavLM, ...): long sounds in windows that overlap. */
import type { MediaModel } from "../../definition/media-task.ts";
import { runSound, type SoundGraph } from "../sound-graph.ts";
import { readCtcVocabulary, type CtcVocabulary } from "./ctc-vocabulary.ts";
import { collapse, takeBest, toWords } from "./decode-ctc.ts";
import { InferyardError } from "../../../contract/errors.ts";

/** A word with its times in seconds. */
export interface CtcTranscriptWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
  /** The geometric mean of the probabilities of its tokens. */
  readonly probability: number;
  /** Ids of its tokens. */
  readonly tokens: readonly number[];
}

/** What was said in a sound. */
export interface CtcTranscript {
  readonly text: string;
  /** Ids of the most probable token of each frame, blanks and repetitions included. */
  readonly ids: Int32Array;
  readonly words: readonly CtcTranscriptWord[];
}

/** What can be told about a long sound while it is read. */
export interface CtcProgress {
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of samples that are done. */
  readonly onSamples?: ((samples: number) => void) | undefined;
}

/** Seconds of a window, and of the parts at both ends whose frames another window gives, where there is one. */
const windowSeconds = { whole: 30, overlap: 5 } as const;

/** Samples from one frame of the logits to the next: the product of the strides of the convolutions. */
function samplesPerFrame({ manifest }: MediaModel): number {
  const strides = manifest.variants[0]?.config["conv_stride"];
  if (!Array.isArray(strides) || !strides.every((stride) => typeof stride === "number" && stride >= 1)) return 320;
  return (strides as readonly number[]).reduce((product, stride) => product * stride, 1);
}

/** Transcribes a sound at the sample rate of the model's extractor. Throws MODEL_UNSUPPORTED for a model without a vocabulary. */
export async function transcribeByCtc(
  model: MediaModel,
  graph: SoundGraph,
  samples: Float32Array,
  { signal, onSamples }: CtcProgress = {},
): Promise<CtcTranscript> {
  const vocabulary = await readCtcVocabulary(model);
  const stride = samplesPerFrame(model);
  const { sampleRate } = graph.extractor;
  const whole = windowSeconds.whole * sampleRate;
  const overlap = Math.round((windowSeconds.overlap * sampleRate) / stride) * stride;
  const ids: number[] = [];
  const logProbabilities: number[] = [];
  for (let start = 0; ;) {
    const end = Math.min(samples.length, start + whole);
    const { shape, data } = await runSound(graph, samples.subarray(start, end), signal);
    const [frames = 0, width = 0] = shape;
    requireWidth(model, vocabulary, width);
    const best = takeBest(data, width);
    const isLast = end === samples.length;
    const from = start === 0 ? 0 : overlap / stride;
    const to = isLast ? frames : Math.min(frames, (whole - overlap) / stride);
    ids.push(...best.ids.subarray(from, to));
    logProbabilities.push(...best.logProbabilities.subarray(from, to));
    onSamples?.(isLast ? samples.length : end - overlap);
    if (isLast) break;
    start = end - 2 * overlap;
  }
  const all = Int32Array.from(ids);
  const words = toWords(collapse(all, Float64Array.from(logProbabilities), vocabulary.blank), vocabulary);
  const seconds = (frame: number): number => Math.round(((frame * stride) / sampleRate) * 1000) / 1000;
  return {
    text: words.map(({ word }) => word).join(" "),
    ids: all,
    words: words.map(({ word, start, end, logProbability, tokens }) => ({
      word,
      start: seconds(start),
      end: seconds(end),
      probability: Math.exp(logProbability),
      tokens,
    })),
  };
}

function requireWidth({ manifest }: MediaModel, { tokens }: CtcVocabulary, width: number): void {
  if (width >= tokens.length && width > 0) return;
  throw new InferyardError(
    "MODEL_INVALID",
    `${manifest.name} has logits of ${width} tokens, and its vocabulary has ${tokens.length}`,
  );
}
