/** Options of the task `voice-activity-detection`: those of Silero's `get_speech_timestamps`, with its defaults. */
import { InferyardError } from "../../../contract/errors.ts";
import { boolean, checkOptions, number, type OptionTable, unchecked } from "../../../runtime/options/option.ts";
import type { SegmentRules } from "./speech-segments.ts";

/** Options of `detectSpeech`. */
export interface VoiceActivityOptions {
  /** Probability from which a window of 32 ms begins speech. Default: 0.5. */
  readonly threshold?: number;
  /** Probability below which a window in speech counts as silence. Default: `threshold` - 0.15, at least 0.01. */
  readonly negativeThreshold?: number;
  /** Segments that are no longer than this many milliseconds are left out. Default: 250. */
  readonly minSpeechMs?: number;
  /** Longer segments are cut, at a silence within them if there is one. Default: no segment is cut. */
  readonly maxSpeechSeconds?: number;
  /** Silence shorter than this many milliseconds does not end a segment. Default: 100. */
  readonly minSilenceMs?: number;
  /** Milliseconds that are added at both ends of a segment; neighbours share shorter silence between them. Default: 30. */
  readonly speechPadMs?: number;
  /** Silence within a segment must be longer than this many milliseconds for a cut by `maxSpeechSeconds`. Default: 98. */
  readonly minSilenceAtCutMs?: number;
  /** Whether `maxSpeechSeconds` cuts at the longest silence of a segment; false: at the last. Default: true. */
  readonly cutAtLongestSilence?: boolean;
  /** Called with the seconds of the sound that are done, and with all. Default: no call. */
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void;
  /** Aborts the call. */
  readonly signal?: AbortSignal;
}

/** Everything about the options in `VoiceActivityOptions`. */
export const voiceActivityOptions: OptionTable<VoiceActivityOptions> = {
  threshold: {
    type: number,
    flag: ["--threshold <probability>", "probability from which a window begins speech"],
    field: "Probability from which a window of 32 ms begins speech. Default: 0.5",
  },
  negativeThreshold: {
    type: number,
    flag: ["--negative-threshold <probability>", "probability below which a window in speech is silence"],
    field: "Probability below which a window in speech counts as silence. Default: threshold - 0.15",
  },
  minSpeechMs: {
    type: number,
    flag: ["--min-speech-ms <number>", "shorter segments are left out"],
    field: "Segments that are no longer than this many milliseconds are left out. Default: 250",
  },
  maxSpeechSeconds: {
    type: number,
    flag: ["--max-speech-seconds <number>", "longer segments are cut"],
    field: "Longer segments are cut, at a silence within them if there is one. Default: no segment is cut",
  },
  minSilenceMs: {
    type: number,
    flag: ["--min-silence-ms <number>", "shorter silence does not end a segment"],
    field: "Silence shorter than this many milliseconds does not end a segment. Default: 100",
  },
  speechPadMs: {
    type: number,
    flag: ["--speech-pad-ms <number>", "milliseconds added at both ends of a segment"],
    field: "Milliseconds that are added at both ends of a segment. Default: 30",
  },
  minSilenceAtCutMs: {
    type: number,
    flag: ["--min-silence-at-cut-ms <number>", "silence at which a segment that is too long may be cut"],
    field: "Silence within a segment must be longer than this many milliseconds for a cut by maxSpeechSeconds. Default: 98",
  },
  cutAtLongestSilence: {
    type: boolean,
    negatedFlag: ["--no-cut-at-longest-silence", "cut a segment that is too long at its last silence"],
    field: "Whether maxSpeechSeconds cuts at the longest silence of a segment, or else at the last. Default: true",
  },
  onProgress: { type: unchecked },
  signal: { type: unchecked },
};

/** Smallest and largest value of an option. */
const ranges: Readonly<Record<string, readonly [min: number, max: number]>> = {
  threshold: [0, 1],
  negativeThreshold: [0, 1],
  minSpeechMs: [0, Infinity],
  maxSpeechSeconds: [0.1, Infinity],
  minSilenceMs: [0, Infinity],
  speechPadMs: [0, Infinity],
  minSilenceAtCutMs: [0, Infinity],
};

/** The rules of a call. Throws INPUT_INVALID for values that are not possible. */
export function getSegmentRules(options: VoiceActivityOptions): SegmentRules {
  checkOptions(voiceActivityOptions, options);
  for (const [name, value] of Object.entries(options)) {
    const range = ranges[name];
    if (range === undefined || typeof value !== "number" || (value >= range[0] && value <= range[1])) continue;
    const allowed = range[1] === Infinity ? `${range[0]} or more` : `from ${range[0]} to ${range[1]}`;
    throw new InferyardError("INPUT_INVALID", `${name} is ${value}, and must be a number ${allowed}`);
  }
  const { threshold = 0.5 } = options;
  return {
    threshold,
    negativeThreshold: options.negativeThreshold ?? Math.max(threshold - 0.15, 0.01),
    minSpeechMs: options.minSpeechMs ?? 250,
    maxSpeechSeconds: options.maxSpeechSeconds ?? Infinity,
    minSilenceMs: options.minSilenceMs ?? 100,
    speechPadMs: options.speechPadMs ?? 30,
    minSilenceAtCutMs: options.minSilenceAtCutMs ?? 98,
    cutAtLongestSilence: options.cutAtLongestSilence ?? true,
  };
}
