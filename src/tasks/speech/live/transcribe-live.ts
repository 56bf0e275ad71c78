/** The task `automatic-speech-recognition` on sound that is still coming in. */
import { createLogMel } from "../../../processors/audio/log-mel.ts";
import type { LoadedGraph } from "../../definition/media-task.ts";
import { type SoundChunks, speechSampleRate } from "../sound-input.ts";
import { transcriptionRules } from "../spoken-sound.ts";
import { toTranscriptSegment, type Transcriber, type Transcription } from "../transcribe.ts";
import { joinSegments, type Transcript, type TranscriptSegment } from "../transcript.ts";
import { openSilero } from "../voice-activity/silero.ts";
import { findLanguage, requireFeatures, transcribeWindows } from "../whisper/transcribe-windows.ts";
import { WindowEncoder } from "../whisper/window-encoder.ts";
import { getWhisperVocabulary } from "../whisper/whisper-vocabulary.ts";
import type { WindowSource } from "../whisper/window-source.ts";
import { LiveSpeech } from "./live-speech.ts";
import { ChunkReader } from "./sound-chunks.ts";
import { type SpeechTracker, TrackedSpeech, WholeSound } from "./speech-tracker.ts";

/** One call. */
export interface LiveTranscription extends Pick<Transcription, "settings" | "onProgress" | "signal" | "emit"> {
  readonly sound: SoundChunks;
  /** A network for voice activity, with its name for errors. Undefined: all is speech. */
  readonly voiceActivity: { readonly graph: LoadedGraph; readonly name: string } | undefined;
  readonly pauseSeconds: number | undefined;
  readonly provisionalSeconds: number | undefined;
}

/** Transcribes a sound while it comes in. Chunks are read as windows need them; segments with `isProvisional` are in the stream alone. */
export async function transcribeLive({ model, tokenizer, manifest }: Transcriber, call: LiveTranscription): Promise<Transcript> {
  const { settings, onProgress, signal, emit, sound, provisionalSeconds } = call;
  const { bins, frames: width } = requireFeatures(model);
  const windows = new WindowEncoder(model);
  const vocabulary = getWhisperVocabulary(tokenizer, manifest, model.limits.vocabulary);
  const whisper = { model, tokenizer, vocabulary, windows };
  const reader = new ChunkReader(sound, speechSampleRate, signal);
  const cutting = { padding: settings.padding, provisionalSeconds };
  const speech = new LiveSpeech(reader, createTracker(call), createLogMel({ mels: bins }), cutting);
  const segments: TranscriptSegment[] = [];
  try {
    const first = await speech.next(0, width);
    const { language, probability } =
      first === undefined
        ? { language: settings.language ?? "und", probability: settings.language === undefined ? 0 : 1 }
        : await findLanguage(whisper, { source: speech, ...first }, settings.language, signal);
    const tell = (done: number): void => onProgress?.({ done, total: speech.duration });
    const source = withFirst(speech, first);
    for await (const each of transcribeWindows(whisper, source, { language, settings, signal, onProgress: tell })) {
      const segment = toTranscriptSegment(each);
      if (each.isProvisional !== true) segments.push(segment);
      await emit(segment);
    }
    const { duration } = speech;
    return { text: joinSegments(segments), language, languageProbability: probability, duration, segments };
  } finally {
    reader.close();
    await windows.release();
  }
}

function createTracker({ voiceActivity, pauseSeconds, signal }: LiveTranscription): SpeechTracker {
  if (voiceActivity === undefined) return new WholeSound();
  const { minSilenceMs } = transcriptionRules;
  const rules = { ...transcriptionRules, minSilenceMs: pauseSeconds === undefined ? minSilenceMs : pauseSeconds * 1000 };
  return new TrackedSpeech(openSilero(voiceActivity.graph, voiceActivity.name, { signal }), rules);
}

/** A source whose first window was taken already. */
function withFirst(source: WindowSource, first: Awaited<ReturnType<WindowSource["next"]>>): WindowSource {
  let isFirst = true;
  return {
    get duration() {
      return source.duration;
    },
    next: (seek, width) => {
      if (!isFirst) return source.next(seek, width);
      isFirst = false;
      return Promise.resolve(first);
    },
    read: (from, count, width) => source.read(from, count, width),
  };
}
