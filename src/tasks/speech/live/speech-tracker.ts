/** Finds speech in sound that is still coming in. */
import type { SileroStream } from "../voice-activity/silero.ts";
import { sileroSampleRate, sileroWindow } from "../voice-activity/silero.ts";
import { Segmenter, type SegmentRules } from "../voice-activity/speech-segments.ts";

/** Speech that began, or ended. Positions are samples from the start of the sound. */
export interface SpeechChange {
  /** Start of the speech with the silence before it that belongs to it. */
  readonly start: number;
  /** Undefined while somebody speaks. */
  readonly end: number | undefined;
  /** End of the last word; `end` has some silence after it. */
  readonly speechEnd: number;
}

/** Finds where speech begins and ends. */
export interface SpeechTracker {
  /** Where the next speech can begin at the earliest. */
  readonly earliestStart: number;
  /** Up to where the sound is known to belong to the speech in progress. */
  readonly knownSpeechEnd: number;
  push(samples: Float32Array): Promise<void>;
  /** Ends the sound. */
  finish(): Promise<void>;
  /** What began or ended since the last call, in order. An end has the start of its speech. */
  takeChanges(): readonly SpeechChange[];
}

/** Takes the whole sound as speech. */
export class WholeSound implements SpeechTracker {
  readonly earliestStart = 0;
  #length = 0;
  #changes: SpeechChange[] = [];

  get knownSpeechEnd(): number {
    return this.#length;
  }

  async push(samples: Float32Array): Promise<void> {
    if (this.#length === 0 && samples.length > 0)
      this.#changes.push({ start: 0, end: undefined, speechEnd: Number.POSITIVE_INFINITY });
    this.#length += samples.length;
  }

  async finish(): Promise<void> {
    if (this.#length > 0) this.#changes.push({ start: 0, end: this.#length, speechEnd: this.#length });
  }

  takeChanges(): readonly SpeechChange[] {
    return this.#changes.splice(0);
  }
}

/** Finds speech with Silero's network, by the same rules as in a whole sound. */
export class TrackedSpeech implements SpeechTracker {
  readonly #network: SileroStream;
  readonly #segmenter: Segmenter;
  /** Samples that are added at both ends of speech. */
  readonly #pad: number;
  #received = 0;
  /** Samples whose probabilities are known. */
  #known = 0;
  /** Start of the speech in progress with its padding. */
  #start: number | undefined;
  /** End of the speech before it with its padding. */
  #previousEnd = 0;
  #changes: SpeechChange[] = [];

  /** `rules`: half of `minSilenceMs` is the longest padding that is added. */
  constructor(network: SileroStream, rules: SegmentRules) {
    this.#network = network;
    this.#segmenter = new Segmenter(rules, { sampleRate: sileroSampleRate, windowLength: sileroWindow });
    this.#pad = Math.floor((Math.min(rules.speechPadMs, rules.minSilenceMs / 2) * sileroSampleRate) / 1000);
  }

  get earliestStart(): number {
    return Math.max(this.#previousEnd, this.#known - this.#pad);
  }

  get knownSpeechEnd(): number {
    const { silenceStart } = this.#segmenter;
    return silenceStart === undefined ? this.#known : Math.min(this.#known, silenceStart + this.#pad);
  }

  async push(samples: Float32Array): Promise<void> {
    this.#received += samples.length;
    this.#take(await this.#network.push(samples));
  }

  async finish(): Promise<void> {
    this.#take(await this.#network.finish());
    this.#known = this.#received;
    for (const { end } of this.#segmenter.finish(this.#received)) this.#end(end);
  }

  takeChanges(): readonly SpeechChange[] {
    return this.#changes.splice(0);
  }

  #take(probabilities: Float32Array): void {
    for (const probability of probabilities) {
      this.#segmenter.push(this.#known, probability);
      this.#known += sileroWindow;
      for (const { end } of this.#segmenter.takeEnded()) this.#end(end);
      const { start } = this.#segmenter;
      if (start === undefined || this.#start !== undefined) continue;
      this.#start = Math.max(this.#previousEnd, start - this.#pad);
      this.#changes.push({ start: this.#start, end: undefined, speechEnd: Number.POSITIVE_INFINITY });
    }
  }

  #end(speechEnd: number): void {
    const end = Math.min(this.#known, speechEnd + this.#pad);
    this.#changes.push({ start: this.#start ?? 0, end, speechEnd });
    this.#previousEnd = end;
    this.#start = undefined;
  }
}
