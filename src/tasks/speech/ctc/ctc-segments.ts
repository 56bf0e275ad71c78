/** Segments of a transcript from the words of a CTC model, which knows no sentences. */
import { omitUndefined } from "../../../contract/checked.ts";
import type { TranscriptSegment } from "../transcript.ts";
import type { CtcTranscriptWord } from "./transcribe-ctc.ts";

/** Seconds between two words from which they belong to different segments. */
const pause = 1;

/** Seconds of a segment from which the next word begins another. */
const longest = 30;

/** Words in segments: a pause of a second ends one, and so do 30 seconds. With "none" there is one segment. */
export function toSegments(words: readonly CtcTranscriptWord[], timestamps: "none" | "segment" | "word"): TranscriptSegment[] {
  const groups: CtcTranscriptWord[][] = [];
  for (const word of words) {
    const group = groups.at(-1);
    const [first] = group ?? [];
    const last = group?.at(-1);
    const joins = first !== undefined && last !== undefined && word.start - last.end < pause && word.end - first.start <= longest;
    if (group !== undefined && (joins || timestamps === "none")) group.push(word);
    else groups.push([word]);
  }
  return groups.map((group) => ({
    start: group[0]?.start ?? 0,
    end: group.at(-1)?.end ?? 0,
    text: group.map(({ word }) => ` ${word}`).join(""),
    tokens: group.flatMap(({ tokens }) => tokens),
    averageLogProbability: group.reduce((sum, { probability }) => sum + Math.log(probability), 0) / group.length,
    ...omitUndefined({
      words:
        timestamps === "word" ? group.map(({ tokens: _tokens, word, ...rest }) => ({ word: ` ${word}`, ...rest })) : undefined,
    }),
  }));
}
