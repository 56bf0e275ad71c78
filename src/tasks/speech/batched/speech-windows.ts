/** Windows of speech that are decoded by themselves: speech is cut at pauses, and joined up to the length of a window. */
import type { SampleRange, SegmentRules } from "../voice-activity/speech-segments.ts";
import { getSegmentRules } from "../voice-activity/voice-activity-options.ts";

/** How speech is found for windows, as faster-whisper's batched decoding does: a pause of 160 ms ends it, and longer speech is cut at its last pause. */
export const batchedRules: SegmentRules = getSegmentRules({
  minSpeechMs: 0,
  minSilenceMs: 160,
  speechPadMs: 400,
  maxSpeechSeconds: 30,
  cutAtLongestSilence: false,
});

/** The ranges of each window, in order: as many as are together no longer than `longest` samples. A longer range is cut. */
export function joinWindows(ranges: readonly SampleRange[], longest: number): readonly (readonly SampleRange[])[] {
  const windows: SampleRange[][] = [];
  let length = Number.POSITIVE_INFINITY;
  for (const range of ranges.flatMap((each) => cutRange(each, longest))) {
    const own = range.end - range.start;
    if (length + own > longest) {
      windows.push([]);
      length = 0;
    }
    windows.at(-1)?.push(range);
    length += own;
  }
  return windows;
}

function cutRange({ start, end }: SampleRange, longest: number): readonly SampleRange[] {
  return Array.from({ length: Math.ceil((end - start) / longest) }, (_, index) => ({
    start: start + index * longest,
    end: Math.min(end, start + (index + 1) * longest),
  }));
}
