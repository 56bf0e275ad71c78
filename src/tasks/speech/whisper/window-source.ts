/** Where Whisper's windows come from: the spectrogram of a whole sound, or sound that is still coming in. */
import { framesPerSecond, type WindowFrames } from "./split-segments.ts";
import type { Spectrogram } from "./spectrogram.ts";

/** A window that is decoded next. */
export interface SourceWindow extends WindowFrames {
  /** Whether more sound may still follow within the window, so that its text is decoded again. */
  readonly isProvisional: boolean;
}

/** Windows of a sound, in frames of 10 ms from its start. */
export interface WindowSource {
  /** Seconds of sound that are known so far. */
  readonly duration: number;
  /** The window of at most `width` frames at frame `seek` or at the next speech after it; undefined at the end. Waits for sound that is still to come. */
  next(seek: number, width: number): Promise<SourceWindow | undefined>;
  /** `count` frames from frame `first` on, [bins, width] row by row, padded behind them. */
  read(first: number, count: number, width: number): Float32Array<ArrayBuffer>;
}

/** The windows of a whole sound, one after the other. */
export function toWindowSource(spectrogram: Spectrogram): WindowSource {
  const frames = spectrogram.frames - 1;
  return {
    duration: frames / framesPerSecond,
    next: async (seek, width) =>
      seek < frames ? { seek, frames: Math.min(width, frames - seek), isProvisional: false } : undefined,
    read: (first, count, width) => spectrogram.read(first, count, width),
  };
}
