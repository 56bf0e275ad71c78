/** Windows of speech in sound that is still coming in. Memory holds the speech of one window and the silence around it, however long the sound is. */
import { yieldToEventLoop } from "../../../platform/event-loop.ts";
import { limitDynamicRange, type LogMelFrontEnd, maximumLogEnergy } from "../../../processors/audio/log-mel.ts";
import type { WhisperSettings } from "../whisper/whisper-options.ts";
import { framesPerSecond } from "../whisper/split-segments.ts";
import type { SourceWindow, WindowSource } from "../whisper/window-source.ts";
import type { ChunkReader } from "./sound-chunks.ts";
import { SampleBuffer } from "./sample-buffer.ts";
import type { SpeechTracker } from "./speech-tracker.ts";

/** How windows are cut. */
export interface LiveSpeechSettings extends Pick<WhisperSettings, "padding"> {
  /** Seconds of new sound after which an unfinished window is given provisionally. Undefined: never. */
  readonly provisionalSeconds: number | undefined;
}

/** Samples on either side of a frame's centre that the frame is computed from. */
const halfFrame = 200;
/** Frames before a window that are kept, so that the samples of its first frames are there. */
const contextFrames = 2;
/** Samples of silence behind a window that is padded with silence: the longest window. */
const silentSamples = 480_000;

/** Speech that is not decoded yet. Positions are samples from the start of the sound. */
interface SpeechRange {
  readonly start: number;
  /** Index of the frame at `start`, from the start of the sound. */
  readonly startFrame: number;
  /** Undefined while somebody speaks. */
  end: number | undefined;
  /** Where the last word may end: silence up to `end` is not decoded on its own. */
  speechEnd: number;
}

/** Cuts sound into windows: at pauses, and where a window is full. Sound is read when a window needs it. */
export class LiveSpeech implements WindowSource {
  readonly #reader: ChunkReader;
  readonly #tracker: SpeechTracker;
  readonly #frontEnd: LogMelFrontEnd;
  readonly #settings: LiveSpeechSettings;
  readonly #samples = new SampleBuffer();
  readonly #ranges: SpeechRange[] = [];
  /** Loudest energy so far, which windows are scaled by. */
  #maximum = maximumLogEnergy(new Float32Array());
  /** A chunk that was asked for and is not processed. */
  #pending: Promise<Float32Array | undefined> | undefined;
  #ended = false;
  /** Frame up to which a window was given provisionally. */
  #provisionalEnd = 0;

  constructor(reader: ChunkReader, tracker: SpeechTracker, frontEnd: LogMelFrontEnd, settings: LiveSpeechSettings) {
    this.#reader = reader;
    this.#tracker = tracker;
    this.#frontEnd = frontEnd;
    this.#settings = settings;
  }

  get duration(): number {
    return this.#samples.end / this.#frontEnd.sampleRate;
  }

  async next(seek: number, width: number): Promise<SourceWindow | undefined> {
    const { hopLength } = this.#frontEnd;
    for (;;) {
      const [range] = this.#ranges;
      if (range === undefined) {
        if (this.#ended) return undefined;
        this.#samples.dropBefore(this.#tracker.earliestStart);
      } else {
        const first = Math.max(seek, range.startFrame);
        const start = this.#sampleAt(range, first);
        const isOver = range.end !== undefined;
        const end = range.end ?? this.#tracker.knownSpeechEnd;
        const frames = Math.floor((end - start) / hopLength);
        this.#samples.dropBefore(start - contextFrames * hopLength);
        if (isOver && (frames <= 0 || (first > range.startFrame && start >= range.speechEnd))) {
          this.#ranges.shift();
          continue;
        }
        if (isOver || end - start >= width * hopLength + halfFrame)
          return { seek: first, frames: Math.min(frames, width), isProvisional: false };
        if (await this.#isProvisionalDue(first, frames)) return { seek: first, frames, isProvisional: true };
      }
      await this.#read();
    }
  }

  read(first: number, count: number, width: number): Float32Array<ArrayBuffer> {
    const { mels, hopLength } = this.#frontEnd;
    const [range] = this.#ranges;
    const window = new Float32Array(mels * width);
    if (range === undefined) return window;
    const before = Math.min(contextFrames, first - range.startFrame);
    const from = this.#sampleAt(range, first - before);
    const samples = this.#samples.slice(from, range.end ?? this.#tracker.knownSpeechEnd);
    const isPadded = this.#settings.padding === "silence";
    const frames = isPadded ? width : count;
    const length = samples.length + (isPadded ? silentSamples : hopLength);
    const energies = this.#frontEnd.logEnergies(samples, { first: before, frames, length });
    this.#maximum = Math.max(this.#maximum, maximumLogEnergy(energies));
    limitDynamicRange(energies, this.#maximum);
    for (let mel = 0; mel < mels; mel += 1) window.set(energies.subarray(mel * frames, (mel + 1) * frames), mel * width);
    return window;
  }

  #sampleAt({ start, startFrame }: SpeechRange, frame: number): number {
    return start + (frame - startFrame) * this.#frontEnd.hopLength;
  }

  /** Whether enough new sound has come for a provisional text, and no more sound is waiting, so that the text delays nothing. */
  async #isProvisionalDue(first: number, frames: number): Promise<boolean> {
    const { provisionalSeconds } = this.#settings;
    if (provisionalSeconds === undefined) return false;
    const since = Math.max(this.#provisionalEnd, first);
    if (first + frames - since < provisionalSeconds * framesPerSecond) return false;
    this.#pending ??= this.#ask();
    let isWaiting = false;
    void this.#pending.then(() => (isWaiting = true));
    await yieldToEventLoop();
    if (isWaiting) return false;
    this.#provisionalEnd = first + frames;
    return true;
  }

  /** Asks for the next chunk. A failure is thrown where the chunk is read. */
  #ask(): Promise<Float32Array | undefined> {
    const asked = this.#reader.next();
    asked.catch(() => undefined);
    return asked;
  }

  /** Reads a chunk, and finds the speech in it. */
  async #read(): Promise<void> {
    const asked = this.#pending ?? this.#ask();
    this.#pending = undefined;
    const samples = await asked;
    if (samples === undefined) {
      this.#ended = true;
      await this.#tracker.finish();
    } else {
      this.#samples.append(samples);
      await this.#tracker.push(samples);
    }
    const { hopLength } = this.#frontEnd;
    for (const { start, end, speechEnd } of this.#tracker.takeChanges()) {
      const last = this.#ranges.at(-1);
      if (last !== undefined && last.end === undefined) Object.assign(last, { end, speechEnd });
      else this.#ranges.push({ start, startFrame: Math.ceil(start / hopLength), end, speechEnd });
    }
  }
}
