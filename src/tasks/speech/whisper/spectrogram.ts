/** The log-mel spectrogram of a whole sound, computed in pieces, so that its memory does not grow with the sound. */
import type { LogMelFrontEnd } from "../../../processors/audio/log-mel.ts";
import { limitDynamicRange, maximumLogEnergy } from "../../../processors/audio/log-mel.ts";
import { yieldToEventLoop } from "../../../platform/event-loop.ts";

/** A spectrogram of which windows are computed when they are read. */
export interface Spectrogram {
  /** Number of frames of 10 ms, the last of which ends behind the sound. */
  readonly frames: number;
  /** `count` frames from frame `first` on, [bins, width] row by row, padded behind them. */
  read(first: number, count: number, width: number): Float32Array<ArrayBuffer>;
}

/** Frames whose energies are computed at once: 10 seconds. */
const pieceFrames = 1000;

/**
 * What follows the end of a sound in its last window. "zeros": features of 0, as openai-whisper and faster-whisper pad when they transcribe. "silence": the
 * features of silence, as the feature extractor of transformers pads.
 */
export type SpectrogramPadding = "zeros" | "silence";

/** Samples of silence behind a sound that is padded with silence: the longest window. */
const silentSamples = 480_000;

/**
 * The spectrogram of mono samples at the front end's sample rate, with one frame of silence behind them. A first pass over the sound finds its loudest energy,
 * which all windows are scaled by. Aborts with the reason of `signal`.
 */
export async function createSpectrogram(
  frontEnd: LogMelFrontEnd,
  samples: Float32Array,
  { padding, signal }: { readonly padding: SpectrogramPadding; readonly signal?: AbortSignal },
): Promise<Spectrogram> {
  const { mels, hopLength } = frontEnd;
  const frames = Math.floor(samples.length / hopLength) + 1;
  const length = samples.length + (padding === "silence" ? silentSamples : hopLength);
  let maximum = Number.NEGATIVE_INFINITY;
  for (let first = 0; first < frames; first += pieceFrames) {
    const piece = frontEnd.logEnergies(samples, { first, frames: Math.min(pieceFrames, frames - first), length });
    maximum = Math.max(maximum, maximumLogEnergy(piece));
    await yieldToEventLoop();
    signal?.throwIfAborted();
  }
  return {
    frames,
    read(first, given, width) {
      const count = padding === "silence" ? width : given;
      const energies = frontEnd.logEnergies(samples, { first, frames: count, length });
      limitDynamicRange(energies, maximum);
      const window = new Float32Array(mels * width);
      for (let mel = 0; mel < mels; mel += 1) window.set(energies.subarray(mel * count, (mel + 1) * count), mel * width);
      return window;
    },
  };
}
