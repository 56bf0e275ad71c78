/** Transcription by models of CTC (wav2vec2, HuBERT, WavLM, ...): long sounds in windows that overlap. */
import type { MediaModel } from "../../definition/media-task.ts";
import { runSound, type SoundGraph } from "../sound-graph.ts";
import { readCtcVocabulary, type CtcVocabulary } from "./ctc-vocabulary.ts";
import { collapse, type CtcWord, takeBest, toWords } from "./decode-ctc.ts";
import { yieldToEventLoop } from "../../../platform/event-loop.ts";
import { CtcBeamSearch, defaultCtcBeamSettings } from "./words/beam-search.ts";
import { readWordVocabulary, type WordVocabulary } from "./words/read-words.ts";
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
  readonly words: readonly CtcTranscriptWord[];
}

/** How a long sound is read. */
export interface CtcCall {
  /** Number of texts of a search over words. Throws INPUT_INVALID for a model without a vocabulary of words. Default: 100. */
  readonly beams?: number | undefined;
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

/** Samples that the first frame of the logits is computed from: the receptive field of the convolutions. */
function samplesOfFrame({ manifest }: MediaModel): number {
  const { conv_kernel: kernels, conv_stride: strides } = manifest.variants[0]?.config ?? {};
  if (!Array.isArray(kernels) || !Array.isArray(strides)) return 400;
  let [field, step] = [1, 1];
  for (const [layer, kernel] of kernels.entries()) {
    field += (Number(kernel) - 1) * step;
    step *= Number(strides[layer] ?? 1);
  }
  return Number.isFinite(field) ? field : 400;
}

/** Transcribes a sound at the sample rate of the model's extractor. Throws MODEL_UNSUPPORTED for a model without a vocabulary. */
export async function transcribeByCtc(
  model: MediaModel,
  graph: SoundGraph,
  samples: Float32Array,
  { beams, signal, onSamples }: CtcCall = {},
): Promise<CtcTranscript> {
  const vocabulary = await readCtcVocabulary(model);
  const decoder = createDecoder(vocabulary, await readWordVocabulary(model, vocabulary), model, beams);
  const stride = samplesPerFrame(model);
  const { sampleRate } = graph.extractor;
  // A shorter sound has no frame, and a graph fails on it.
  if (samples.length < samplesOfFrame(model)) return { text: "", words: [] };
  const whole = windowSeconds.whole * sampleRate;
  const overlap = Math.round((windowSeconds.overlap * sampleRate) / stride) * stride;
  for (let start = 0; ;) {
    const end = Math.min(samples.length, start + whole);
    const { shape, data } = await runSound(graph, samples.subarray(start, end), signal);
    const [frames = 0, width = 0] = shape;
    requireWidth(model, vocabulary, width);
    const isLast = end === samples.length;
    const from = start === 0 ? 0 : overlap / stride;
    const to = isLast ? frames : Math.min(frames, (whole - overlap) / stride);
    await decoder.push(data.subarray(from * width, to * width), width);
    onSamples?.(isLast ? samples.length : end - overlap);
    if (isLast) break;
    start = end - 2 * overlap;
  }
  const words = decoder.finish();
  const seconds = (frame: number): number => Math.round(((frame * stride) / sampleRate) * 1000) / 1000;
  return {
    text: words.map(({ word }) => word).join(" "),
    words: words.map(({ word, start, end, logProbability, tokens }) => ({
      word,
      start: seconds(start),
      end: seconds(end),
      probability: Math.exp(logProbability),
      tokens,
    })),
  };
}

/** Makes words of logits, row-major `[frames, width]`, that come in pieces. */
interface CtcDecoder {
  push(logits: Float32Array, width: number): Promise<void>;
  finish(): readonly CtcWord[];
}

/** A search over words where the model has a vocabulary of words, or else the most probable token of each frame. */
function createDecoder(
  vocabulary: CtcVocabulary,
  words: WordVocabulary | undefined,
  { manifest }: MediaModel,
  beams: number | undefined,
): CtcDecoder {
  if (words !== undefined) return new WordDecoder(words, vocabulary, manifest.name, beams ?? defaultCtcBeamSettings.beams);
  if (beams === undefined) return new GreedyDecoder(vocabulary);
  throw new InferyardError("INPUT_INVALID", `"beams" has no effect on ${manifest.name}, which has no vocabulary of words`, {
    remedy: 'leave "beams" out, or put a folder language_model with unigrams.txt or an ARPA file beside its weights',
  });
}

class GreedyDecoder implements CtcDecoder {
  readonly #vocabulary: CtcVocabulary;
  readonly #ids: number[] = [];
  readonly #logProbabilities: number[] = [];

  constructor(vocabulary: CtcVocabulary) {
    this.#vocabulary = vocabulary;
  }

  async push(logits: Float32Array, width: number): Promise<void> {
    const best = takeBest(logits, width);
    this.#ids.push(...best.ids);
    this.#logProbabilities.push(...best.logProbabilities);
  }

  finish(): readonly CtcWord[] {
    const tokens = collapse(Int32Array.from(this.#ids), Float64Array.from(this.#logProbabilities), this.#vocabulary.blank);
    return toWords(tokens, this.#vocabulary);
  }
}

/** Frames of a search between which the event loop runs: about a second. */
const framesAtOnce = 50;

class WordDecoder implements CtcDecoder {
  readonly #search: CtcBeamSearch;
  readonly #labels: number;
  readonly #name: string;
  readonly #lowerCase: boolean;

  constructor({ alphabet, scores }: WordVocabulary, { lowerCase }: CtcVocabulary, name: string, beams: number) {
    this.#search = new CtcBeamSearch(alphabet, scores, { ...defaultCtcBeamSettings, beams });
    this.#labels = alphabet.labels.length;
    this.#name = name;
    this.#lowerCase = lowerCase;
  }

  async push(logits: Float32Array, width: number): Promise<void> {
    if (width !== this.#labels)
      throw new InferyardError(
        "MODEL_INVALID",
        `${this.#name} has logits of ${width} tokens, and its alphabet has ${this.#labels} labels`,
      );
    for (let frame = 0; (frame + 1) * width <= logits.length; frame += 1) {
      if (frame % framesAtOnce === 0) await yieldToEventLoop();
      this.#search.push(logits.subarray(frame * width, (frame + 1) * width));
    }
  }

  finish(): readonly CtcWord[] {
    const [best] = this.#search.finish();
    const words = best?.words ?? [];
    return this.#lowerCase ? words.map((each) => ({ ...each, word: each.word.toLowerCase() })) : words;
  }
}

function requireWidth({ manifest }: MediaModel, { tokens }: CtcVocabulary, width: number): void {
  if (width >= tokens.length && width > 0) return;
  throw new InferyardError(
    "MODEL_INVALID",
    `${manifest.name} has logits of ${width} tokens, and its vocabulary has ${tokens.length}`,
  );
}
