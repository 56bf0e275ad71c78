/** Transcripts as subtitles: SubRip, and WebVTT (https://www.w3.org/TR/webvtt1/). */
import type { TranscriptSegment } from "./transcript.ts";

type Cue = Pick<TranscriptSegment, "start" | "end" | "text">;

/** Subtitles in the format SubRip. `number`: number of the first cue. */
export function toSubRip(segments: readonly Cue[], number: number = 1): string {
  const cues = segments.map(({ start, end, text }, index) => {
    const times = `${formatTime(start, ",")} --> ${formatTime(end, ",")}`;
    return `${number + index}\n${times}\n${cueText(text)}\n\n`;
  });
  return cues.join("");
}

/** The first lines of a file in the format WebVTT. */
export const webVttHeader = "WEBVTT\n\n";

/** Subtitles in the format WebVTT, without the first lines. */
export function toWebVttCues(segments: readonly Cue[]): string {
  return segments
    .map(({ start, end, text }) => `${formatTime(start, ".")} --> ${formatTime(end, ".")}\n${cueText(text)}\n\n`)
    .join("");
}

/** Text of a cue: an arrow would begin another cue. */
function cueText(text: string): string {
  return text.trim().replaceAll("-->", "->");
}

/** "00:01:02.345" */
function formatTime(seconds: number, point: "," | "."): string {
  const milliseconds = Math.round(seconds * 1000);
  const part = (value: number, digits: number): string => String(Math.floor(value)).padStart(digits, "0");
  const clock = [milliseconds / 3_600_000, (milliseconds / 60_000) % 60, (milliseconds / 1000) % 60].map((each) => part(each, 2));
  return `${clock.join(":")}${point}${part(milliseconds % 1000, 3)}`;
}
