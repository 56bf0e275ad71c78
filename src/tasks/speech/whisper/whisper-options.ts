/** How Whisper decodes. The defaults are its authors'. */
import type { SpectrogramPadding } from "./spectrogram.ts";
import type { SpeechTask } from "./whisper-vocabulary.ts";

/** Options of the transcription of one sound. */
export interface WhisperSettings {
  /** Code of the language that is spoken, such as "en". Undefined: the model detects it in the first 30 seconds. */
  readonly language: string | undefined;
  readonly task: SpeechTask;
  /** What has times: nothing but windows, segments, or segments and words. */
  readonly timestamps: "none" | "segment" | "word";
  /** Temperatures that are tried one after the other until a text is neither too repetitive nor too improbable. */
  readonly temperatures: readonly number[];
  /** Number of texts drawn at a temperature above 0, of which the most probable is taken. */
  readonly bestOf: number;
  /** Number of texts of a beam search at temperature 0. */
  readonly beams: number;
  /** A text that compresses better than this is too repetitive. Infinity: no limit. */
  readonly compressionRatioThreshold: number;
  /** A text with a lower mean log probability is too improbable. -Infinity: no limit. */
  readonly logProbabilityThreshold: number;
  /** A window whose probability of silence is higher has no text, if its text is too improbable as well. Infinity: never. */
  readonly noSpeechThreshold: number;
  /** Whether the text of earlier windows stands before that of a window. */
  readonly conditionOnPreviousText: boolean;
  /** After a text of a higher temperature the earlier text is forgotten. */
  readonly promptResetOnTemperature: number;
  /** Text that stands before the first window as if it had been spoken: names, spelling. */
  readonly initialPrompt: string | undefined;
  /** What follows the end of the sound in its last window. */
  readonly padding: SpectrogramPadding;
  /** Whether the first token may be a space or the end of the text. */
  readonly suppressBlank: boolean;
  /** Latest first timestamp of a window, in seconds. */
  readonly maxInitialTimestamp: number;
  /** Silence longer than these seconds around improbable words is skipped. For timestamps of words. Undefined: nothing is skipped. */
  readonly hallucinationSilenceThreshold: number | undefined;
  /** Maximum number of tokens of a window. Default: half the model's context. */
  readonly maxNewTokens: number | undefined;
  /** Start of the random numbers at temperatures above 0. */
  readonly seed: number;
  /** Number of windows that are decoded at once, each by itself; 1: one after the other. */
  readonly batchSize: number;
}

export const whisperDefaults: WhisperSettings = {
  language: undefined,
  task: "transcribe",
  timestamps: "segment",
  temperatures: [0, 0.2, 0.4, 0.6, 0.8, 1],
  bestOf: 5,
  beams: 1,
  compressionRatioThreshold: 2.4,
  logProbabilityThreshold: -1,
  noSpeechThreshold: 0.6,
  conditionOnPreviousText: true,
  promptResetOnTemperature: 0.5,
  initialPrompt: undefined,
  padding: "zeros",
  suppressBlank: true,
  maxInitialTimestamp: 1,
  hallucinationSilenceThreshold: undefined,
  maxNewTokens: undefined,
  seed: 0,
  batchSize: 1,
};
