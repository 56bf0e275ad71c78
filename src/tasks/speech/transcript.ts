/** Transcripts: what was said in a sound, and when. */

/** A word of a transcript. Times are seconds from the start of the sound. */
export interface TranscriptWord {
  /** The word with the space before it and the punctuation around it. */
  readonly word: string;
  readonly start: number;
  readonly end: number;
  /** Mean probability of its tokens. */
  readonly probability: number;
}

/** A segment of a transcript: a sentence or a part of one. Times are seconds from the start of the sound. */
export interface TranscriptSegment {
  readonly start: number;
  readonly end: number;
  /** The text, with the space before it. */
  readonly text: string;
  /** Present with timestamps of words. */
  readonly words?: readonly TranscriptWord[];
  readonly tokens: readonly number[];
  /** First frame of its window, in units of 10 ms of the sound that was decoded. Absent for models that transcribe by CTC. */
  readonly seek?: number;
  /** Temperature at which it was decoded. Absent for models that transcribe by CTC. */
  readonly temperature?: number;
  /** Mean log probability of the tokens of its window. */
  readonly averageLogProbability: number;
  /** Factor by which zlib compresses the text of its window. Absent for models that transcribe by CTC. */
  readonly compressionRatio?: number;
  /** Probability that nobody speaks in its window. Absent for models that transcribe by CTC. */
  readonly noSpeechProbability?: number;
  /**
   * Present in the text of speech that is still going on: the next segment replaces it, with more text or for good. Its times are those of the sound that was
   * read, and it has no words. For sound in chunks with `provisionalSeconds` alone; a whole transcript has no such segments.
   */
  readonly isProvisional?: true;
}

/** What was said in a sound. */
export interface Transcript {
  readonly text: string;
  /** Code of the language, such as "en"; "und" (undetermined, ISO 639-2) for models that transcribe by CTC and for chunks in which nobody speaks, unless it was given. */
  readonly language: string;
  /** Probability of the language; 1 if it was given, 0 if it is undetermined. */
  readonly languageProbability: number;
  /** Length of the sound in seconds. */
  readonly duration: number;
  readonly segments: readonly TranscriptSegment[];
}

/** The text of segments. */
export function joinSegments(segments: readonly Pick<TranscriptSegment, "text">[]): string {
  return segments
    .map(({ text }) => text)
    .join("")
    .trim();
}
