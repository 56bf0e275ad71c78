/** Options of the task `automatic-speech-recognition`. */
import { InferyardError } from "../../contract/errors.ts";
import {
  boolean,
  checkOptions,
  choice,
  name,
  number,
  type OptionTable,
  positiveInteger,
  textOption,
  unchecked,
  zeroOrMore,
} from "../../runtime/options/option.ts";
import { whisperDefaults, type WhisperSettings } from "./whisper/whisper-options.ts";
import type { SpectrogramPadding } from "./whisper/spectrogram.ts";
import type { SpeechTask } from "./whisper/whisper-vocabulary.ts";

/** Options of `transcribe`. */
export interface TranscribeOptions {
  /** Code of the language that is spoken, such as "en". Default: the model detects it in the first 30 seconds. */
  readonly language?: string;
  /** "translate" writes down an English translation. Default: "transcribe", the words that are spoken. */
  readonly task?: SpeechTask;
  /** What has times: "segment", "word" for the words of segments as well, or "none" for one segment per 30 seconds. Default: "segment". */
  readonly timestamps?: "none" | "segment" | "word";
  /**
   * Temperature of sampling; 0 takes the most probable token. A list is tried in order until a text is neither too repetitive nor too improbable. Default:
   * [0, 0.2, 0.4, 0.6, 0.8, 1].
   */
  readonly temperature?: number | readonly number[];
  /** Number of texts drawn at a temperature above 0, of which the most probable is taken. Default: 5. */
  readonly bestOf?: number;
  /**
   * Number of texts of a beam search: at temperature 0 with a Whisper, where 1 takes the most probable token each time, and over words with a model of CTC that has
   * a vocabulary of words. Default: 1 with a Whisper, 100 over words.
   */
  readonly beams?: number;
  /** A text that zlib compresses by more than this factor is too repetitive. Default: 2.4. */
  readonly compressionRatioThreshold?: number;
  /** A text whose tokens have a lower mean log probability is too improbable. Default: -1. */
  readonly logProbabilityThreshold?: number;
  /** A window has no text if the probability of silence is higher and its text is too improbable. Default: 0.6. */
  readonly noSpeechThreshold?: number;
  /** Whether the text before a window helps to decode it. Default: true. */
  readonly conditionOnPreviousText?: boolean;
  /** After a window that needed a higher temperature, the text before it is forgotten. Default: 0.5. */
  readonly promptResetOnTemperature?: number;
  /** Text that precedes the sound, as if it had been spoken: names and their spelling. Default: none. */
  readonly initialPrompt?: string;
  /**
   * What follows the end of the sound in its last window: "zeros", as openai-whisper and faster-whisper pad it, or "silence", as transformers does. Default:
   * "zeros".
   */
  readonly padding?: SpectrogramPadding;
  /** Latest time of the first word of a window, in seconds. Default: 1. */
  readonly maxInitialTimestamp?: number;
  /** With times of words: improbable words with more than this many seconds of silence around them are left out. Default: they stay. */
  readonly hallucinationSilenceThreshold?: number;
  /** Maximum number of tokens of each window. Default: half the model's context. */
  readonly maxNewTokens?: number;
  /** Seed of the random numbers at temperatures above 0. Default: 0. */
  readonly seed?: number;
  /**
   * Reference of a network for voice activity (Silero's): silence is left out before the sound is transcribed, so that nothing is heard in it. Default: the
   * whole sound is transcribed.
   */
  readonly vadModel?: string;
  /**
   * Number of windows that are decoded at once. Above 1 each window is decoded by itself, without the text before it, and `vadModel` is needed: windows end at
   * pauses. At most 64, since memory grows with it. Default: 1, one window after the other.
   */
  readonly batchSize?: number;
  /** false: the whole sound is transcribed, even with `vadModel`. Default: true with `vadModel`. */
  readonly vad?: boolean;
  /**
   * For sound in chunks: seconds of silence after which the speech before them is final. Needs `vadModel`; without it a text is final when 30 seconds are full.
   * Default: 2.
   */
  readonly pauseSeconds?: number;
  /**
   * For sound in chunks: after so many seconds of new speech the stream gives the text so far as a segment with `isProvisional`, unless more chunks are waiting.
   * Default: no provisional text.
   */
  readonly provisionalSeconds?: number;
  /** Called with the seconds of the sound that are done, and with all. Default: no call. */
  readonly onProgress?: (progress: TranscriptionProgress) => void;
  /** Whether the call returns a stream of segments as soon as the model is loaded. Default: false, it returns the whole transcript. */
  readonly stream?: boolean;
  /** Aborts the call. */
  readonly signal?: AbortSignal;
}

/** How much of a sound has been transcribed, in seconds. */
export interface TranscriptionProgress {
  readonly done: number;
  readonly total: number;
}

/** Everything about the options in `TranscribeOptions`. */
export const transcribeOptions: OptionTable<TranscribeOptions> = {
  language: {
    type: name,
    flag: ["--language <code>", "language that is spoken, such as en"],
    field: "Code of the language that is spoken, such as en. Default: it is detected",
  },
  task: {
    type: choice(["transcribe", "translate"]),
    flag: ["--task <name>", "transcribe, or translate into English"],
    field: "transcribe, or translate into English. Default: transcribe",
  },
  timestamps: {
    type: choice(["none", "segment", "word"]),
    flag: ["--timestamps <of>", "times of: segment, word (and segment), none"],
    field: "What has times: segment, word (words of segments as well) or none. Default: segment",
  },
  temperature: {
    type: unchecked,
    field: "Temperature of sampling, or a list that is tried in order. Default: [0, 0.2, 0.4, 0.6, 0.8, 1]",
  },
  bestOf: {
    type: positiveInteger,
    flag: ["--best-of <number>", "texts drawn at a temperature above 0"],
    field: "Number of texts drawn at a temperature above 0, of which the most probable is taken. Default: 5",
  },
  beams: {
    type: positiveInteger,
    flag: ["--beams <number>", "texts of a beam search, at temperature 0 or over the words of a model of CTC"],
    field:
      "Number of texts of a beam search, at temperature 0 or over words. Default: 1 with a Whisper, 100 with words of a model of CTC",
  },
  compressionRatioThreshold: {
    type: number,
    flag: ["--compression-ratio-threshold <number>", "texts that compress better are too repetitive"],
    field: "A text that compresses by more than this factor is too repetitive. Default: 2.4",
  },
  logProbabilityThreshold: {
    type: number,
    flag: ["--log-probability-threshold <number>", "texts with a lower mean log probability are too improbable"],
    field: "A text with a lower mean log probability is too improbable. Default: -1",
  },
  noSpeechThreshold: {
    type: number,
    flag: ["--silence-threshold <number>", "probability above which improbable text is silence"],
    field: "Probability of silence above which improbable text is left out. Default: 0.6",
  },
  conditionOnPreviousText: {
    type: boolean,
    negatedFlag: ["--no-condition-on-previous-text", "decode each window by itself"],
    field: "Whether the text before a window helps to decode it. Default: true",
  },
  promptResetOnTemperature: {
    type: number,
    flag: ["--prompt-reset-on-temperature <number>", "temperature above which earlier text is forgotten"],
    field: "Temperature above which the text before a window is forgotten. Default: 0.5",
  },
  initialPrompt: {
    type: textOption,
    flag: ["--initial-prompt <text>", "text that precedes the sound: names and their spelling"],
    field: "Text that precedes the sound: names and their spelling",
  },
  padding: {
    type: choice(["zeros", "silence"]),
    flag: ["--padding <with>", "what follows the end of the sound: zeros as openai-whisper, silence as transformers"],
    field:
      "What follows the end of the sound in its last window: zeros, as openai-whisper pads, or silence, as transformers does. Default: zeros",
  },
  maxInitialTimestamp: {
    type: number,
    flag: ["--max-initial-timestamp <seconds>", "latest first time of a window"],
    field: "Latest time of the first word of a window, in seconds. Default: 1",
  },
  hallucinationSilenceThreshold: {
    type: number,
    flag: ["--hallucination-silence-threshold <seconds>", "with times of words: leave out improbable words in longer silence"],
    field: "With times of words: improbable words with more than this many seconds of silence around them are left out",
  },
  maxNewTokens: {
    type: positiveInteger,
    flag: ["--max-new-tokens <number>", "tokens of each 30 seconds at most"],
    field: "Maximum number of tokens of each window. Default: half the model's context",
  },
  seed: {
    type: zeroOrMore,
    flag: ["--seed <number>", "seed of the random numbers"],
    field: "Seed of the random numbers at temperatures above 0. Default: 0",
  },
  vadModel: {
    type: name,
    flag: ["--vad-model <reference>", "network for voice activity (Silero's): silence is left out first"],
    field: "Reference of a network for voice activity (Silero's), by which silence is left out first. Default: none",
  },
  batchSize: {
    type: { kind: "integer", min: 1, max: 64 }, // each window of a batch has an encoder's output in memory
    flag: ["--batch-size <number>", "windows that are decoded at once, each by itself; needs --vad-model"],
    field: "Number of windows that are decoded at once, each by itself. At most 64; above 1 it needs vad_model. Default: 1",
  },
  vad: {
    type: boolean,
    negatedFlag: ["--no-vad", "transcribe the whole sound, even with --vad-model"],
    field: "Whether silence is left out first. Default: true with vad_model",
  },
  pauseSeconds: {
    type: number,
    flag: ["--pause-seconds <number>", "with sound that comes in: silence after which speech is final"],
  },
  provisionalSeconds: { type: number },
  onProgress: { type: unchecked },
  stream: { type: unchecked },
  signal: { type: unchecked },
};

/** The settings of a call. Throws INPUT_INVALID for values that are not possible. */
export function getWhisperSettings(options: TranscribeOptions): WhisperSettings {
  checkOptions(transcribeOptions, options);
  const {
    temperature,
    hallucinationSilenceThreshold,
    maxInitialTimestamp = whisperDefaults.maxInitialTimestamp,
    timestamps,
  } = options;
  const temperatures = temperature === undefined ? whisperDefaults.temperatures : [temperature].flat();
  const isTemperature = (value: unknown): boolean => typeof value === "number" && value >= 0 && value <= 1;
  if (temperatures.length === 0 || !temperatures.every(isTemperature))
    throw new InferyardError(
      "INPUT_INVALID",
      `temperature is ${JSON.stringify(temperature)}, and must be a number from 0 to 1, or a list of such numbers`,
    );
  if (!(maxInitialTimestamp >= 0 && maxInitialTimestamp <= 30))
    throw new InferyardError(
      "INPUT_INVALID",
      `maxInitialTimestamp is ${maxInitialTimestamp}, and must be a number of seconds from 0 to 30`,
    );
  for (const name of ["pauseSeconds", "provisionalSeconds"] as const) {
    const seconds = options[name];
    if (seconds !== undefined && !(seconds >= 0.1 && seconds <= 30))
      throw new InferyardError("INPUT_INVALID", `${name} is ${seconds}, and must be a number of seconds from 0.1 to 30`);
  }
  if (options.vad === true && options.vadModel === undefined)
    throw new InferyardError("INPUT_INVALID", "vad needs a network for voice activity", {
      remedy: "name Silero's with vadModel",
    });
  requireSeparateWindows(options);
  if (hallucinationSilenceThreshold !== undefined && timestamps !== "word")
    throw new InferyardError(
      "INPUT_INVALID",
      "hallucinationSilenceThreshold looks at words, and only timestamps of words tell them",
      {
        remedy: 'set timestamps to "word"',
      },
    );
  const given = Object.fromEntries(
    Object.keys(whisperDefaults).flatMap((key) => {
      const value = (options as Readonly<Record<string, unknown>>)[key];
      return value === undefined ? [] : [[key, value]];
    }),
  );
  return { ...whisperDefaults, ...given, temperatures };
}

/** Throws INPUT_INVALID where several windows are asked for at once and nothing finds where they end, or the text before them is to help. */
function requireSeparateWindows(options: TranscribeOptions): void {
  const { batchSize = 1, vad = true, vadModel, conditionOnPreviousText, promptResetOnTemperature } = options;
  if (batchSize === 1) return;
  if (!vad || vadModel === undefined)
    throw new InferyardError(
      "INPUT_INVALID",
      `batchSize is ${batchSize}, and more than one window at once needs a network for voice activity, which finds where windows end`,
      { remedy: "name Silero's with vadModel, and do not switch it off with vad" },
    );
  const others = {
    conditionOnPreviousText: conditionOnPreviousText === true,
    promptResetOnTemperature: promptResetOnTemperature !== undefined,
  };
  for (const [name, isGiven] of Object.entries(others))
    if (isGiven)
      throw new InferyardError(
        "INPUT_INVALID",
        `batchSize is ${batchSize}, and windows that are decoded at once do not know the text before them: "${name}" has no effect`,
        { remedy: `leave "${name}" out, or batchSize` },
      );
}
