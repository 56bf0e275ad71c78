/** The task `automatic-speech-recognition` on a loaded Whisper. */
import { InferyardError } from "../../contract/errors.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { getMedium, speechTask } from "../../models/language-tasks.ts";
import type { Manifest } from "../../models/manifest.ts";
import { createLogMel } from "../../processors/audio/log-mel.ts";
import type { Tokenizer } from "../../tokenizers/index.ts";
import { speechSampleRate } from "./sound-input.ts";
import type { TranscribeOptions } from "./transcribe-options.ts";
import { joinWindows } from "./batched/speech-windows.ts";
import { type SpokenSegment, transcribeBatches } from "./batched/transcribe-batches.ts";
import { joinRanges, SpeechTimes } from "./spoken-sound.ts";
import { joinSegments, type Transcript, type TranscriptSegment } from "./transcript.ts";
import type { SampleRange } from "./voice-activity/speech-segments.ts";
import type { SpeechModel } from "./whisper/decode-window.ts";
import { createSpectrogram } from "./whisper/spectrogram.ts";
import { findLanguage, transcribeWindows, type WhisperSegment } from "./whisper/transcribe-windows.ts";
import type { WhisperSettings } from "./whisper/whisper-options.ts";
import { WindowEncoder } from "./whisper/window-encoder.ts";
import { toWindowSource } from "./whisper/window-source.ts";
import { getWhisperVocabulary } from "./whisper/whisper-vocabulary.ts";

/** Throws MODEL_UNSUPPORTED for a model that does not transcribe speech, or not as Whisper does. */
export function requireWhisper({ name, tasks, variants }: Pick<Manifest, "name" | "tasks" | "variants">): void {
  const remedy =
    "name a Whisper (its safetensors, or an ONNX export with encoder_model.onnx and decoder_model_merged.onnx), or a model of CTC such as wav2vec2";
  if (tasks[0] !== speechTask) {
    const reads = getMedium({ tasks }) ?? "text";
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `${name} is a model for ${tasks[0] ?? "an unknown task"}: it reads ${reads}, not speech`,
      { remedy },
    );
  }
  if (variants.some(({ config, architecture = "" }) => config["model_type"] === "whisper" || architecture.startsWith("Whisper")))
    return;
  throw new InferyardError("MODEL_UNSUPPORTED", `${name} is neither a Whisper nor a model of CTC`, {
    remedy,
  });
}

/** A loaded model. */
export interface Transcriber {
  readonly model: SpeechModel;
  readonly tokenizer: Tokenizer;
  readonly manifest: Manifest;
}

/** One call. */
export interface Transcription {
  /** Samples at 16 kHz. */
  readonly samples: Float32Array;
  readonly settings: WhisperSettings;
  /** Finds speech in samples. Undefined: all is speech. */
  readonly findSpeech: ((samples: Float32Array, signal: AbortSignal) => Promise<readonly SampleRange[]>) | undefined;
  readonly onProgress: TranscribeOptions["onProgress"];
  readonly signal: AbortSignal;
  /** Receives each segment as soon as it is final; the next window is decoded when the promise settles. */
  readonly emit: (segment: TranscriptSegment) => Promise<void>;
}

/** Transcribes a sound. */
export async function transcribe({ model, tokenizer, manifest }: Transcriber, call: Transcription): Promise<Transcript> {
  const { samples, settings, findSpeech, onProgress, signal, emit } = call;
  const { features, vocabulary: width } = model.limits;
  if (features === undefined)
    throw new InferyardError("MODEL_UNSUPPORTED", `${manifest.name} has no encoder that reads a spectrogram`);
  const windows = new WindowEncoder(model);
  const whisper = { model, tokenizer, vocabulary: getWhisperVocabulary(tokenizer, manifest, width), windows };
  const duration = samples.length / speechSampleRate;
  const ranges = await findSpeech?.(samples, signal);
  const isSilent = ranges?.length === 0;
  const frontEnd = createLogMel({ mels: features.bins });
  const isBatched = settings.batchSize > 1 && !isSilent;
  const batched = isBatched && ranges !== undefined ? joinWindows(ranges, features.frames * frontEnd.hopLength) : undefined;
  const spoken = ranges === undefined || isSilent ? samples : joinRanges(samples, batched?.[0] ?? ranges);
  const spectrogram = await createSpectrogram(frontEnd, spoken, { padding: settings.padding, signal });
  const source = toWindowSource(spectrogram);
  try {
    // The language is detected in the window that is decoded first, so that it is encoded once.
    const first = (await source.next(0, features.frames)) ?? { seek: 0, frames: spectrogram.frames };
    const { language, probability } = await findLanguage(whisper, { source, ...first }, settings.language, signal);
    const segments: TranscriptSegment[] = [];
    if (isSilent) return { text: "", language, languageProbability: probability, duration, segments };
    const times = ranges && new SpeechTimes(ranges, speechSampleRate);
    const tell = (done: number): void =>
      onProgress?.({ done: Math.min(times?.restoreTime(done) ?? done, duration), total: duration });
    const request = { language, settings, signal, onProgress: tell };
    const decoded =
      batched === undefined
        ? withTimes(transcribeWindows(whisper, source, request), times)
        : transcribeBatches(whisper, { samples, windows: batched, frontEnd }, request);
    for await (const { segment: each, times: own } of decoded) {
      const inSpeech = toTranscriptSegment(each);
      const segment = own?.restore(inSpeech) ?? inSpeech;
      segments.push(segment);
      await emit(segment);
    }
    return { text: joinSegments(segments), language, languageProbability: probability, duration, segments };
  } finally {
    await windows.release();
  }
}

/** The segments of one window after the other, all with the same times. */
async function* withTimes(
  segments: AsyncIterable<WhisperSegment>,
  times: SpeechTimes | undefined,
): AsyncGenerator<SpokenSegment, void, undefined> {
  for await (const segment of segments) yield { segment, times };
}

/** A segment with its times rounded to thousandths of a second. */
export function toTranscriptSegment({ start, end, text, words, ...others }: WhisperSegment): TranscriptSegment {
  const timed = words?.map((word) => ({ ...word, start: toMilliseconds(word.start), end: toMilliseconds(word.end) }));
  const times = { start: toMilliseconds(start), end: toMilliseconds(end) };
  return { ...times, text, ...omitUndefined({ words: timed }), ...others };
}

/** Seconds rounded to thousandths: times are multiples of 0.01, and sums of them are not. */
function toMilliseconds(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
