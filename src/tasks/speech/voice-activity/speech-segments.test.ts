import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { findSegments } from "./speech-segments.ts";
import { getSegmentRules, type VoiceActivityOptions } from "./voice-activity-options.ts";

interface Golden {
  /** Base64 of a byte per window: the probability times 255. */
  readonly probabilities: string;
  readonly length: number;
  readonly options: VoiceActivityOptions;
  readonly segments: [start: number, end: number][];
}

/** Segments that silero-vad 6.2.3 finds: scripts/goldens/sound/speech-segments.py. */
const { cases } = JSON.parse(readFileSync(new URL("speech-segments.goldens.json", import.meta.url), "utf8")) as {
  cases: Golden[];
};

test.each(cases.map((golden) => ({ ...golden, name: JSON.stringify(golden.options) })))(
  "segments are those of silero-vad: $name",
  ({ probabilities, length, options, segments }) => {
    const values = Array.from(Buffer.from(probabilities, "base64"), (byte) => byte / 255);
    const found = findSegments(values, getSegmentRules(options), { sampleRate: 16_000, windowLength: 512, length });
    expect(found.map(({ start, end }) => [start, end])).toEqual(segments);
  },
);

test("a sound without windows has no segments", () => {
  expect(findSegments([], getSegmentRules({}), { sampleRate: 16_000, windowLength: 512, length: 0 })).toEqual([]);
});

test.each([
  [{ threshold: 2 }, "threshold is 2, and must be a number from 0 to 1"],
  [{ speechPadMs: -1 }, "speechPadMs is -1, and must be a number 0 or more"],
  [{ maxSpeechSeconds: 0 }, "maxSpeechSeconds is 0, and must be a number 0.1 or more"],
])("%j is refused", (options, message) => {
  expect(() => getSegmentRules(options)).toThrow(message);
});
