/**
 * Finds words that nobody said: very short, very long and improbable ones with silence around them, as openai-whisper's option
 * hallucination_silence_threshold does.
 */
import { framesPerSecond } from "./split-segments.ts";
import type { TimedWord, WordSegment } from "./word-times.ts";

/** Where a window lies, in seconds, and what was said before it. */
export interface HallucinationWindow {
  readonly start: number;
  /** End of the 30 seconds, which may be beyond the sound. */
  readonly end: number;
  /** End of the sound in the window. */
  readonly soundEnd: number;
  /** Seconds of the whole sound. */
  readonly duration: number;
  /** End of the last word before the window. */
  readonly lastSpeech: number;
}

/** What remains of a window, and the frame at which the next one begins; undefined: as it was. */
export interface KeptSegments {
  readonly segments: readonly WordSegment[];
  readonly seek?: number;
}

const punctuation = "\"'“¿([{-\"'.。,，!！?？:：”)]}、";
/** Words of a segment that are judged. */
const judgedWords = 8;

function getScore({ start, end, probability }: TimedWord): number {
  const duration = end - start;
  const tooShort = duration < 0.133 ? (0.133 - duration) * 15 : 0;
  return (probability < 0.15 ? 1 : 0) + tooShort + Math.max(0, duration - 2);
}

function isAnomaly(segment: WordSegment | undefined): boolean {
  if (segment === undefined || segment.words.length === 0) return false;
  const words = segment.words.filter(({ word }) => !punctuation.includes(word)).slice(0, judgedWords);
  const score = words.reduce((sum, word) => sum + getScore(word), 0);
  return score >= 3 || score + 0.01 >= words.length;
}

/** Removes improbable segments with more than `threshold` seconds of silence, or other improbable ones, before and after them. */
export function removeHallucinations(
  segments: readonly WordSegment[],
  { start, end, soundEnd, duration, lastSpeech }: HallucinationWindow,
  threshold: number,
): KeptSegments {
  const spoken = segments.filter(({ words }) => words.length > 0);
  const [first] = spoken;
  if (first !== undefined && isAnomaly(first) && first.start - start > threshold) {
    // The words may become right in a window that begins with them.
    return { segments: [], seek: Math.round(start * framesPerSecond) + Math.round((first.start - start) * framesPerSecond) };
  }
  let before = lastSpeech;
  for (const [index, segment] of spoken.entries()) {
    if (isAnomaly(segment)) {
      const next = spoken[index + 1];
      const nextStart = next?.words[0]?.start ?? soundEnd;
      const isAfterSilence = segment.start - before > threshold || segment.start < threshold || segment.start - start < 2;
      const isBeforeSilence = nextStart - segment.end > threshold || isAnomaly(next) || end - segment.end < 2;
      if (isAfterSilence && isBeforeSilence) {
        const seconds = duration - segment.end < threshold ? duration : Math.max(start + 1, segment.start);
        return { segments: segments.slice(0, segments.indexOf(segment)), seek: Math.round(seconds * framesPerSecond) };
      }
    }
    before = segment.end;
  }
  return { segments };
}
