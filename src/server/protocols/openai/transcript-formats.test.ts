import { expect, it } from "vitest";
import { formatTranscript } from "./transcript-formats.ts";

const about = {
  tokens: [1],
  seek: 0,
  temperature: 0,
  averageLogProbability: -0.5,
  compressionRatio: 1.5,
  noSpeechProbability: 0.25,
};
const transcript = {
  text: "A man. A plan --> it.",
  language: "de",
  languageProbability: 0.9,
  duration: 61.2,
  segments: [
    { start: 0, end: 1.5, text: " A man.", words: [{ word: " A", start: 0, end: 0.5, probability: 0.9 }], ...about },
    { start: 3661.005, end: 3662, text: " A plan --> it.", words: [], ...about },
  ],
};
const usage = { type: "duration", seconds: 62 };
const shown = { task: "transcribe", granularities: ["segment"] } as const;

it("writes JSON, texts and subtitles", () => {
  expect(formatTranscript(transcript, "json", shown)).toEqual([
    JSON.stringify({ text: transcript.text, usage }),
    "application/json",
  ]);
  expect(formatTranscript(transcript, "text", shown)).toEqual([`${transcript.text}\n`, "text/plain; charset=utf-8"]);
  expect(formatTranscript(transcript, "srt", shown)[0]).toBe(
    "1\n00:00:00,000 --> 00:00:01,500\nA man.\n\n2\n01:01:01,005 --> 01:01:02,000\nA plan -> it.\n\n",
  );
  expect(formatTranscript(transcript, "vtt", shown)).toEqual([
    "WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nA man.\n\n01:01:01.005 --> 01:01:02.000\nA plan -> it.\n\n",
    "text/vtt; charset=utf-8",
  ]);
});

it("writes segments and words as they are asked for", () => {
  const read = (granularities: readonly string[]) =>
    JSON.parse(formatTranscript(transcript, "verbose_json", { task: "translate", granularities })[0]) as object;
  const { text } = transcript;
  expect(read(["word"])).toEqual({
    task: "translate",
    language: "german",
    duration: 61.2,
    text,
    words: [{ word: "A", start: 0, end: 0.5 }],
    usage,
  });
  expect(read(["segment"])).toMatchObject({
    segments: [
      {
        id: 0,
        seek: 0,
        start: 0,
        end: 1.5,
        text: " A man.",
        tokens: [1],
        temperature: 0,
        avg_logprob: -0.5,
        compression_ratio: 1.5,
        no_speech_prob: 0.25,
      },
      { id: 1 },
    ],
  });
});
