/**
 * Corrections of the times of words, as faster-whisper 1.2 has them: words at pauses come out too long, and punctuation belongs to its word. Times of the
 * results are seconds from the start of the sound.
 */
import type { AlignedWord } from "./align-words.ts";
import type { TimedTokens } from "./split-segments.ts";

/** A word of a transcript. */
export interface TimedWord {
  /** The word with the space before it and the punctuation around it. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
  readonly probability: number;
}

/** Marks that belong to the next word, and marks that belong to the word before. */
export interface PunctuationMarks {
  readonly prepended: string;
  readonly appended: string;
}

type Mutable<Each> = { -readonly [Key in keyof Each]: Each[Key] };

/** A segment with its words. */
export interface WordSegment extends TimedTokens {
  readonly words: readonly TimedWord[];
}

const sentenceEnds = ".。!！?？";
/** Longest median of the durations of words, in seconds. */
const maxMedianDuration = 0.7;
/** A segment's own times hold where the times of its words are off by more than this, in seconds. */
const maxDeviation = 0.5;

/** Median of the durations, and the longest duration of a word at a pause. */
interface Durations {
  readonly median: number;
  readonly max: number;
}

/**
 * The segments of a window with the words that were aligned with it. `offset`: start of the window in seconds. `lastSpeech`: end of the last word of earlier
 * windows in seconds. A segment that has words gets their times.
 */
export function addWordTimes(
  segments: readonly TimedTokens[],
  aligned: readonly AlignedWord[],
  {
    offset,
    lastSpeech,
    endOfText,
    marks,
  }: { readonly offset: number; readonly lastSpeech: number; readonly endOfText: number; readonly marks: PunctuationMarks },
): readonly WordSegment[] {
  const words = aligned.map((word): Mutable<AlignedWord> => ({ ...word }));
  const durations = limitAtSentenceEnds(words);
  mergePunctuation(words, marks);
  let [next, last] = [0, lastSpeech];
  return segments.map((segment) => {
    const count = segment.tokens.filter((token) => token < endOfText).length;
    const own: Mutable<TimedWord>[] = [];
    for (let taken = 0; next < words.length && taken < count; next += 1) {
      const { word = "", tokens = [], start = 0, end = 0, probability = 0 } = words[next] ?? {};
      if (word !== "") own.push({ word, start: rounded(offset + start), end: rounded(offset + end), probability });
      taken += tokens.length;
    }
    const times = correctAtPause(segment, own, durations, last);
    if (own.length > 0) last = times.end;
    return { ...segment, ...times, words: own };
  });
}

/** Limits words at the ends of sentences to twice the median duration, in place. */
function limitAtSentenceEnds(words: readonly Mutable<AlignedWord>[]): Durations {
  const lengths = words.map(({ start, end }) => end - start).filter((length) => length !== 0);
  const median = Math.min(maxMedianDuration, getMedian(lengths));
  const max = median * 2;
  for (const [index, word] of words.entries()) {
    const before = words[index - 1];
    if (lengths.length === 0 || before === undefined || word.end - word.start <= max) continue;
    if (sentenceEnds.includes(word.word)) word.end = word.start + max;
    else if (sentenceEnds.includes(before.word)) word.start = word.end - max;
  }
  return { median, max };
}

/** Joins marks to the words that they belong to, in place; a mark that was joined becomes an empty word. */
function mergePunctuation(words: readonly Mutable<AlignedWord>[], { prepended, appended }: PunctuationMarks): void {
  let following = words.at(-1);
  for (const word of words.slice(0, -1).toReversed()) {
    if (following !== undefined && word.word.startsWith(" ") && prepended.includes(word.word.trim())) {
      following.word = word.word + following.word;
      following.tokens = [...word.tokens, ...following.tokens];
      word.word = "";
      word.tokens = [];
    } else following = word;
  }
  let previous = words[0];
  for (const word of words.slice(1)) {
    if (previous !== undefined && !previous.word.endsWith(" ") && appended.includes(word.word)) {
      previous.word += word.word;
      previous.tokens = [...previous.tokens, ...word.tokens];
      word.word = "";
      word.tokens = [];
    } else previous = word;
  }
}

/** Shortens the first words after a pause in place, and returns the times of the segment. */
function correctAtPause(
  segment: TimedTokens,
  words: readonly Mutable<TimedWord>[],
  { median, max }: Durations,
  lastSpeech: number,
): { readonly start: number; readonly end: number } {
  const [first, second] = words;
  const last = words.at(-1);
  let { start, end } = segment;
  if (first === undefined || last === undefined) return { start, end };
  const isLong = first.end - first.start > max || (second !== undefined && second.end - first.start > max * 2);
  if (first.end - lastSpeech > median * 4 && isLong) {
    if (second !== undefined && second.end - second.start > max) {
      const boundary = Math.max(second.end / 2, second.end - max);
      first.end = boundary;
      second.start = boundary;
    }
    first.start = Math.max(0, first.end - max);
  }
  if (start < first.end && start - maxDeviation > first.start) first.start = Math.max(0, Math.min(first.end - median, start));
  else ({ start } = first);
  if (end > last.start && end + maxDeviation < last.end) last.end = Math.max(last.start + median, end);
  else ({ end } = last);
  return { start, end };
}

/** Rounded to hundredths of a second. */
function rounded(seconds: number): number {
  return Number(seconds.toFixed(2));
}

function getMedian(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
