/** The pipeline of transformers.js for speech. Options may have its names (`return_timestamps`) or ours (`timestamps`). */
import type { ModelHandle } from "../runtime/model-handle.ts";
import type { LabelScore } from "../tasks/encoding/label-head.ts";
import type { ClassifySoundOptions } from "../tasks/speech/classification/classify-sound-options.ts";
import { type SoundInput, speechSampleRate } from "../tasks/speech/sound-input.ts";
import type { TranscribeOptions } from "../tasks/speech/transcribe-options.ts";
import type { Runtime } from "./runtime.ts";

/** Options of the pipeline `automatic-speech-recognition`. */
export interface SpeechPipelineOptions extends Omit<TranscribeOptions, "stream" | "timestamps"> {
  /** Whether the result has chunks with times: of segments (true), or of words ("word"). Default: false. */
  readonly return_timestamps?: boolean | "word";
}

/** A text, and with timestamps its parts. Times are seconds from the start of the sound. */
export interface SpeechPipelineResult {
  readonly text: string;
  readonly chunks?: readonly { readonly timestamp: readonly [start: number, end: number]; readonly text: string }[];
}

/** Signatures of the pipelines. */
export interface SpeechPipelineCalls {
  /** The sound: samples at 16 kHz, the bytes of a sound file, or samples with their rate. */
  "automatic-speech-recognition": (
    sound: Float32Array | SoundInput,
    options?: SpeechPipelineOptions,
  ) => Promise<SpeechPipelineResult>;
  /** The labels of one sound, or a list for each of several; the five best, unless `topK` says otherwise. */
  "audio-classification": OneOrManySounds;
}

/** A sound of the pipelines: samples at 16 kHz, the bytes of a sound file, or samples with their rate. */
type PipelineSound = Float32Array | SoundInput;

/** A function on one sound or a list of sounds. */
export interface OneOrManySounds {
  (sound: PipelineSound, options?: ClassifySoundOptions): Promise<LabelScore[]>;
  (sounds: readonly PipelineSound[], options?: ClassifySoundOptions): Promise<LabelScore[][]>;
}

/** Creates the pipeline `audio-classification`. */
export function soundClassification(runtime: Runtime, model: ModelHandle): OneOrManySounds {
  const classify = async (
    sounds: readonly PipelineSound[],
    options: ClassifySoundOptions | undefined,
  ): Promise<LabelScore[][]> => {
    const { results } = await runtime.classifySound(sounds.map(toSoundInput), { topK: 5, ...options, model });
    return results.map((labels) => [...labels]);
  };
  function call(sound: PipelineSound, options?: ClassifySoundOptions): Promise<LabelScore[]>;
  function call(sounds: readonly PipelineSound[], options?: ClassifySoundOptions): Promise<LabelScore[][]>;
  async function call(
    sounds: PipelineSound | readonly PipelineSound[],
    options?: ClassifySoundOptions,
  ): Promise<LabelScore[] | LabelScore[][]> {
    if (isSoundList(sounds)) return classify(sounds, options);
    const [labels = []] = await classify([sounds], options);
    return labels;
  }
  return call;
}

function isSoundList(sounds: PipelineSound | readonly PipelineSound[]): sounds is readonly PipelineSound[] {
  return Array.isArray(sounds);
}

/** Samples without a rate are at 16 kHz. */
function toSoundInput(sound: PipelineSound): SoundInput {
  return sound instanceof Float32Array ? { sampleRate: speechSampleRate, samples: sound } : sound;
}

/** Creates the pipeline `automatic-speech-recognition`. */
export function speechRecognition(runtime: Runtime, model: ModelHandle): SpeechPipelineCalls["automatic-speech-recognition"] {
  return async (sound, { return_timestamps: wanted = false, ...options } = {}) => {
    const input = toSoundInput(sound);
    const { text, segments } = await runtime.transcribe(input, {
      ...options,
      model,
      timestamps: wanted === "word" ? "word" : "segment",
    });
    if (wanted === false) return { text };
    const parts =
      wanted === "word"
        ? segments.flatMap(({ words = [] }) => words.map(({ word, ...times }) => ({ ...times, text: word })))
        : segments;
    return { text, chunks: parts.map((part) => ({ timestamp: [part.start, part.end] as const, text: part.text })) };
  };
}
