/**
 * Transcribes windows of speech that do not depend on each other, several at once. faster-whisper's batched decoding does the same, but leaves out what
 * follows the last pair of timestamps of a window; here the window is decoded further from there, as a sound of its own would be.
 */
import { at } from "../../../contract/checked.ts";
import type { LogMelFrontEnd } from "../../../processors/audio/log-mel.ts";
import { joinRanges, SpeechTimes } from "../spoken-sound.ts";
import type { SampleRange } from "../voice-activity/speech-segments.ts";
import { createSpectrogram } from "../whisper/spectrogram.ts";
import { framesPerSecond } from "../whisper/split-segments.ts";
import {
  transcribeWindows,
  type TranscriptionRequest,
  type Whisper,
  type WhisperSegment,
} from "../whisper/transcribe-windows.ts";
import { WindowEncoder } from "../whisper/window-encoder.ts";
import { toWindowSource } from "../whisper/window-source.ts";
import { runWithSharedSteps } from "./shared-steps.ts";

/** A segment with times in ranges of a sound that are joined, and where these lie in the whole sound. */
export interface SpokenSegment {
  readonly segment: WhisperSegment;
  /** Undefined: the times are those of the whole sound. */
  readonly times: SpeechTimes | undefined;
}

/** Windows of a sound. */
export interface SpeechWindows {
  /** The whole sound, at the front end's sample rate. */
  readonly samples: Float32Array;
  /** The ranges of each window, in order. */
  readonly windows: readonly (readonly SampleRange[])[];
  readonly frontEnd: LogMelFrontEnd;
}

/**
 * Yields the segments of all windows in order, `settings.batchSize` windows after another. Progress is in seconds of all ranges joined. `whisper.windows`
 * encodes the first window, which it may have read for its language.
 */
export async function* transcribeBatches(
  whisper: Whisper,
  { samples, windows, frontEnd }: SpeechWindows,
  { language, settings, signal, onProgress }: TranscriptionRequest,
): AsyncGenerator<SpokenSegment, void, undefined> {
  const { batchSize, padding } = settings;
  const alone = { ...settings, conditionOnPreviousText: false };
  let before = 0;
  for (let first = 0; first < windows.length; first += batchSize) {
    const batch = windows.slice(first, first + batchSize);
    const start = before;
    const done = new Float64Array(batch.length);
    const work = batch.map(
      (ranges, index) =>
        async (model: Whisper["model"], either: AbortSignal): Promise<readonly WhisperSegment[]> => {
          const spectrogram = await createSpectrogram(frontEnd, joinRanges(samples, ranges), { padding, signal: either });
          const encoder = first + index === 0 ? whisper.windows : new WindowEncoder(model);
          const request = {
            language,
            settings: alone,
            signal: either,
            onProgress: (seconds: number): void => {
              done[index] = seconds;
              onProgress(start + done.reduce((sum, each) => sum + each, 0));
            },
          };
          const own: WhisperSegment[] = [];
          const decoded = transcribeWindows({ ...whisper, model, windows: encoder }, toWindowSource(spectrogram), request);
          for await (const segment of decoded) own.push(segment);
          return own;
        },
    );
    const results = await runWithSharedSteps(whisper.model, work, signal);
    for (const [index, ranges] of batch.entries()) {
      const duration = ranges.reduce((sum, { start: from, end }) => sum + end - from, 0) / frontEnd.sampleRate;
      const times = new SpeechTimes(ranges, frontEnd.sampleRate);
      const seek = Math.round(before * framesPerSecond);
      for (const segment of at(results, index)) yield { segment: limitTimes(segment, seek, duration), times };
      before += duration;
    }
  }
}

/** A segment of a window that begins at frame `first`, with no time behind the window's `duration`: the model may name times in the padding. */
function limitTimes({ start, end, seek, ...others }: WhisperSegment, first: number, duration: number): WhisperSegment {
  return { ...others, start: Math.min(start, duration), end: Math.min(end, duration), seek: first + seek };
}
