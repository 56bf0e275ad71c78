/** Transcripts in the formats of OpenAI's API. */
import { toSubRip, toWebVttCues, webVttHeader } from "../../../tasks/speech/subtitles.ts";
import type { Transcript } from "../../../tasks/speech/transcript.ts";
import type { SpeechTask } from "../../../tasks/speech/whisper/whisper-vocabulary.ts";

/** The formats of transcripts. */
export const transcriptFormats = ["json", "text", "srt", "verbose_json", "vtt"] as const;

/** One of the formats. */
export type TranscriptFormat = (typeof transcriptFormats)[number];

/** The body in a format, and its media type. */
export function formatTranscript(
  transcript: Transcript,
  format: TranscriptFormat,
  shown: { readonly task: SpeechTask; readonly granularities: readonly string[] },
): readonly [body: string, type: string] {
  const { text, segments, duration } = transcript;
  const usage = { type: "duration", seconds: Math.ceil(duration) };
  switch (format) {
    case "json":
      return [JSON.stringify({ text, usage }), "application/json"];
    case "verbose_json":
      return [JSON.stringify({ ...verbose(transcript, shown), usage }), "application/json"];
    case "text":
      return [`${text}\n`, "text/plain; charset=utf-8"];
    case "srt":
      return [toSubRip(segments), "text/plain; charset=utf-8"];
    case "vtt":
      return [webVttHeader + toWebVttCues(segments), "text/vtt; charset=utf-8"];
    default:
      return format satisfies never;
  }
}

function verbose(
  { text, language, duration, segments }: Transcript,
  { task, granularities }: { readonly task: SpeechTask; readonly granularities: readonly string[] },
): object {
  const words = segments.flatMap((segment) =>
    (segment.words ?? []).map(({ word, start, end }) => ({ word: word.trim(), start, end })),
  );
  const shown = segments.map((segment, id) => ({
    id,
    seek: segment.seek,
    start: segment.start,
    end: segment.end,
    text: segment.text,
    tokens: segment.tokens,
    temperature: segment.temperature,
    avg_logprob: segment.averageLogProbability,
    compression_ratio: segment.compressionRatio,
    no_speech_prob: segment.noSpeechProbability,
  }));
  return {
    task,
    language: nameOfLanguage(language),
    duration,
    text,
    ...(granularities.includes("word") ? { words } : {}),
    ...(granularities.includes("segment") ? { segments: shown } : {}),
  };
}

/** The English name in small letters, as Whisper's authors have it: "english". */
function nameOfLanguage(code: string): string {
  return (new Intl.DisplayNames(["en"], { type: "language", fallback: "code" }).of(code) ?? code).toLowerCase();
}
