/** The task `voice-activity-detection`: when somebody speaks. */
import type { LoadedGraph, MediaModel } from "../../definition/media-task.ts";
import { readSound, type SoundInput } from "../sound-input.ts";
import { findSegments, type SampleRange, type SegmentRules } from "./speech-segments.ts";
import { openSilero, type ProbabilityProgress, sileroSampleRate, sileroWindow } from "./silero.ts";
import { getSegmentRules, type VoiceActivityOptions } from "./voice-activity-options.ts";

/** Speech in a sound. */
export interface VoiceActivity {
  /** Seconds of the whole sound. */
  readonly duration: number;
  /** From the first to the last; they do not overlap. */
  readonly segments: readonly SpeechSegment[];
}

/** Speech from `start` to `end`, in seconds. */
export interface SpeechSegment {
  readonly start: number;
  readonly end: number;
}

/** Samples that are read at a time: about 33 s. */
const pieceLength = sileroWindow * 1024;

/** Speech in samples at 16 kHz. Throws MODEL_UNSUPPORTED for a network that is not Silero's. */
export async function findSpeech(
  graph: LoadedGraph,
  { name, samples }: { readonly name: string; readonly samples: Float32Array },
  rules: SegmentRules,
  progress: ProbabilityProgress = {},
): Promise<SampleRange[]> {
  const stream = openSilero(graph, name, progress);
  const probabilities = new Float32Array(Math.ceil(samples.length / sileroWindow));
  let known = 0;
  const append = (piece: Float32Array): void => {
    probabilities.set(piece, known);
    known += piece.length;
  };
  for (let at = 0; at < samples.length; at += pieceLength) append(await stream.push(samples.subarray(at, at + pieceLength)));
  append(await stream.finish());
  const sound = { sampleRate: sileroSampleRate, windowLength: sileroWindow, length: samples.length };
  return findSegments(probabilities, rules, sound);
}

/** Throws INPUT_INVALID for options that are not possible. */
export function checkDetectSpeech(_sound: SoundInput, options: VoiceActivityOptions): void {
  getSegmentRules(options);
}

/** Runs the task on a loaded model. */
export async function detectSpeech(model: MediaModel, sound: SoundInput, options: VoiceActivityOptions): Promise<VoiceActivity> {
  const rules = getSegmentRules(options);
  const { onProgress, signal } = options;
  const samples = await readSound(sound, { signal });
  const duration = samples.length / sileroSampleRate;
  const onWindows = (windows: number): void =>
    onProgress?.({ done: Math.min(duration, (windows * sileroWindow) / sileroSampleRate), total: duration });
  const found = await findSpeech(await model.main(), { name: model.manifest.name, samples }, rules, { signal, onWindows });
  return {
    duration,
    segments: found.map(({ start, end }) => ({ start: start / sileroSampleRate, end: end / sileroSampleRate })),
  };
}
