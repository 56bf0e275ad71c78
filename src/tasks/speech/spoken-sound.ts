/** Sound of which the silence was left out, and the times in the sound as it was. */
import { omitUndefined } from "../../contract/checked.ts";
import type { TranscriptSegment } from "./transcript.ts";
import type { SampleRange, SegmentRules } from "./voice-activity/speech-segments.ts";
import { getSegmentRules } from "./voice-activity/voice-activity-options.ts";

/** How speech is found before it is transcribed, as faster-whisper does: short pauses stay, and so does some silence around speech. */
export const transcriptionRules: SegmentRules = getSegmentRules({ minSpeechMs: 0, minSilenceMs: 2000, speechPadMs: 400 });

/** The samples of all ranges, one range after the other. */
export function joinRanges(samples: Float32Array, ranges: readonly SampleRange[]): Float32Array {
  const joined = new Float32Array(ranges.reduce((sum, { start, end }) => sum + end - start, 0));
  let at = 0;
  for (const { start, end } of ranges) {
    joined.set(samples.subarray(start, end), at);
    at += end - start;
  }
  return joined;
}

/** A range in the joined sound: the sample at which it ends there, and the silence that was left out before it. */
interface JoinedRange {
  readonly end: number;
  readonly silence: number;
}

/** Converts times in joined ranges to times in the whole sound. There is at least one range. */
export class SpeechTimes {
  readonly #ranges: readonly JoinedRange[];
  readonly #sampleRate: number;

  constructor(ranges: readonly SampleRange[], sampleRate: number) {
    let [silence, before] = [0, 0];
    this.#ranges = ranges.map(({ start, end }) => {
      silence += start - before;
      before = end;
      return { end: end - silence, silence };
    });
    this.#sampleRate = sampleRate;
  }

  /** The segment with its times in the whole sound. A word lies in the range of its middle. */
  restore(segment: TranscriptSegment): TranscriptSegment {
    const words = segment.words?.map((word) => {
      const range = this.#rangeAt((word.start + word.end) / 2, false);
      return { ...word, start: this.#shifted(word.start, range), end: this.#shifted(word.end, range) };
    });
    const start = words?.[0]?.start ?? this.#shifted(segment.start, this.#rangeAt(segment.start, false));
    const end = words?.at(-1)?.end ?? this.#shifted(segment.end, this.#rangeAt(segment.end, true));
    return { ...segment, start, end, ...omitUndefined({ words }) };
  }

  /** The time in the whole sound of a time in the joined ranges, in seconds. */
  restoreTime(seconds: number): number {
    return this.#shifted(seconds, this.#rangeAt(seconds, true));
  }

  #rangeAt(seconds: number, isEnd: boolean): JoinedRange | undefined {
    const sample = Math.trunc(seconds * this.#sampleRate);
    return this.#ranges.find(({ end }) => (isEnd ? sample <= end : sample < end)) ?? this.#ranges.at(-1);
  }

  #shifted(seconds: number, range: JoinedRange | undefined): number {
    return Math.round((seconds + (range?.silence ?? 0) / this.#sampleRate) * 100) / 100;
  }
}
