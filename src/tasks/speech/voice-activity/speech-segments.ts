/** From probabilities of speech to segments, by the rules of `get_speech_timestamps_from_probs` of the package silero-vad 6.2.3. */

/** How segments follow from probabilities; `VoiceActivityOptions` describes each rule. */
export interface SegmentRules {
  readonly threshold: number;
  readonly negativeThreshold: number;
  readonly minSpeechMs: number;
  readonly maxSpeechSeconds: number;
  readonly minSilenceMs: number;
  readonly speechPadMs: number;
  readonly minSilenceAtCutMs: number;
  readonly cutAtLongestSilence: boolean;
}

/** Sound that the probabilities are about. */
export interface ProbedSound {
  /** Hz. */
  readonly sampleRate: number;
  /** Samples of one window, to which one probability belongs. */
  readonly windowLength: number;
  /** Samples of the whole sound. */
  readonly length: number;
}

/** Speech from sample `start` to before sample `end`. */
export interface SampleRange {
  readonly start: number;
  readonly end: number;
}

/** Silence within a segment. */
interface Silence {
  readonly start: number;
  readonly length: number;
}

/** Walks over the windows; all positions are in samples. Position 0 of `silenceStart`, `lastSilence` and `resumed` means none. */
export class Segmenter {
  readonly #rules: SegmentRules;
  readonly #minSpeech: number;
  readonly #maxSpeech: number;
  readonly #minSilence: number;
  readonly #minSilenceAtCut: number;
  readonly #segments: SampleRange[] = [];
  /** Start of the segment in progress. */
  #start: number | undefined;
  /** Start of the silence that may end the segment. */
  #silenceStart = 0;
  /** Start of the last silence that was long enough for a cut, and where speech went on after it; known without `cutAtLongestSilence` alone. */
  #lastSilence = 0;
  #resumed = 0;
  /** Silences of the segment that were long enough for a cut. */
  #silences: Silence[] = [];

  constructor(rules: SegmentRules, { sampleRate, windowLength }: Omit<ProbedSound, "length">) {
    this.#rules = rules;
    this.#minSpeech = (sampleRate * rules.minSpeechMs) / 1000;
    this.#maxSpeech = sampleRate * rules.maxSpeechSeconds - windowLength - (2 * sampleRate * rules.speechPadMs) / 1000;
    this.#minSilence = (sampleRate * rules.minSilenceMs) / 1000;
    this.#minSilenceAtCut = (sampleRate * rules.minSilenceAtCutMs) / 1000;
  }

  /** Takes the probability of the window that begins at `at`. */
  push(at: number, probability: number): void {
    const speech = probability >= this.#rules.threshold;
    if (speech && this.#silenceStart !== 0) this.#resume(at);
    if (speech && this.#start === undefined) {
      this.#start = at;
      return;
    }
    if (this.#start !== undefined && at - this.#start > this.#maxSpeech && this.#cut(at, this.#start)) return;
    if (this.#start !== undefined && probability < this.#rules.negativeThreshold) this.#beSilent(at, this.#start);
  }

  /** Start of the segment in progress. Undefined in silence. */
  get start(): number | undefined {
    return this.#start;
  }

  /** Start of the silence that may end the segment in progress. Undefined while somebody speaks. */
  get silenceStart(): number | undefined {
    return this.#silenceStart === 0 ? undefined : this.#silenceStart;
  }

  /** Returns the segments that ended since the last call. */
  takeEnded(): readonly SampleRange[] {
    return this.#segments.splice(0);
  }

  /** Ends the sound after `length` samples, and returns the segments that were not taken. */
  finish(length: number): SampleRange[] {
    if (this.#start !== undefined && length - this.#start > this.#minSpeech)
      this.#segments.push({ start: this.#start, end: length });
    return this.#segments;
  }

  #resume(at: number): void {
    const length = at - this.#silenceStart;
    if (length > this.#minSilenceAtCut) this.#silences.push({ start: this.#silenceStart, length });
    this.#silenceStart = 0;
    if (this.#resumed < this.#lastSilence) this.#resumed = at;
  }

  #begin(start: number | undefined): void {
    this.#start = start;
    this.#silenceStart = 0;
    this.#lastSilence = 0;
    this.#resumed = 0;
    this.#silences = [];
  }

  /** Cuts a segment that is too long. Returns true if it ends at `at`, for want of a silence. */
  #cut(at: number, start: number): boolean {
    if (this.#rules.cutAtLongestSilence && this.#silences.length > 0) {
      const longest = this.#silences.reduce((best, silence) => (silence.length > best.length ? silence : best));
      this.#segments.push({ start, end: longest.start });
      this.#begin(longest.start + longest.length);
      return false;
    }
    if (this.#lastSilence !== 0) {
      this.#segments.push({ start, end: this.#lastSilence });
      this.#begin(this.#resumed < this.#lastSilence ? undefined : this.#resumed);
      return false;
    }
    this.#segments.push({ start, end: at });
    this.#begin(undefined);
    return true;
  }

  #beSilent(at: number, start: number): void {
    if (this.#silenceStart === 0) this.#silenceStart = at;
    const length = at - this.#silenceStart;
    if (!this.#rules.cutAtLongestSilence && length > this.#minSilenceAtCut) this.#lastSilence = this.#silenceStart;
    if (length < this.#minSilence) return;
    if (this.#silenceStart - start > this.#minSpeech) this.#segments.push({ start, end: this.#silenceStart });
    this.#begin(undefined);
  }
}

/** Widens segments by `pad` samples at both ends; neighbours that are closer than that meet in the middle. */
function padSegments(segments: readonly SampleRange[], pad: number, length: number): SampleRange[] {
  return segments.map(({ start, end }, index) => {
    const before = segments[index - 1];
    const after = segments[index + 1];
    const shared = (gap: number): number => (gap < 2 * pad ? Math.floor(gap / 2) : pad);
    const left = before === undefined ? pad : shared(start - before.end);
    const right = after === undefined ? pad : shared(after.start - end);
    return { start: Math.trunc(Math.max(0, start - left)), end: Math.trunc(Math.min(length, end + right)) };
  });
}

/** Segments of speech in samples, from the probabilities of the windows of a sound. */
export function findSegments(probabilities: ArrayLike<number>, rules: SegmentRules, sound: ProbedSound): SampleRange[] {
  const segmenter = new Segmenter(rules, sound);
  for (let index = 0; index < probabilities.length; index++)
    segmenter.push(index * sound.windowLength, probabilities[index] ?? 0);
  return padSegments(segmenter.finish(sound.length), (sound.sampleRate * rules.speechPadMs) / 1000, sound.length);
}
