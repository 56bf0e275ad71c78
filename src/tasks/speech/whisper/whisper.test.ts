import { describe, expect, it } from "vitest";
import { attentionCosts, medianFilter } from "./attention-costs.ts";
import { getCompressionRatio } from "./compression-ratio.ts";
import { dynamicTimeWarping } from "./dynamic-time-warping.ts";
import { applyRules } from "./logit-rules.ts";
import { splitSegments } from "./split-segments.ts";
import type { WhisperVocabulary } from "./whisper-vocabulary.ts";
import { addWordTimes } from "./word-times.ts";

/** Texts 0 to 9, the end 10, special tokens to 14, timestamps from 15 to 34. */
const vocabulary: WhisperVocabulary = {
  endOfText: 10,
  startOfTranscript: 11,
  startOfPrevious: 12,
  noSpeech: 13,
  noTimestamps: 14,
  firstTimestamp: 15,
  lastTimestamp: 34,
  languages: new Map(),
  tasks: undefined,
  suppressed: [3, 11, 12, 13],
  suppressedFirst: [0, 10],
  alignmentHeads: undefined,
};

/** Tokens that may follow; `likely`: a token that is more probable than all others. */
function allowed(sampled: readonly number[], likely: number, hasTimestamps = true): readonly number[] {
  const logits = new Float32Array(40);
  logits[likely] = 20;
  applyRules(logits, sampled, vocabulary, { hasTimestamps, suppressesBlank: true, maxInitialTimestamp: 5 });
  return [...logits.entries()].filter(([, logit]) => logit > Number.NEGATIVE_INFINITY).map(([token]) => token);
}

const range = (first: number, last: number): readonly number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

describe("the rules of tokens", () => {
  it("a text with timestamps begins with one of the first", () => {
    expect(allowed([], 4)).toEqual(range(15, 20));
  });

  it("after a timestamp that begins a segment a text follows, and after one that ends it another timestamp or the end", () => {
    expect(allowed([15], 4)).toEqual([0, 1, 2, ...range(4, 10)]);
    expect(allowed([15, 4, 20], 22)).toEqual(range(20, 34));
    expect(allowed([15, 4, 20], 10)).toEqual([10, ...range(20, 34)]);
    expect(allowed([15, 4, 20, 20], 4)).toEqual([0, 1, 2, ...range(4, 10)]);
  });

  it("timestamps do not decrease, and follow where they are more probable together than any other token", () => {
    expect(allowed([15, 4, 20, 20, 4], 4)).toEqual([0, 1, 2, ...range(4, 10), ...range(21, 34)]);
    expect(allowed([15, 4, 20, 20, 4], 30)).toEqual(range(21, 34));
  });

  it("without timestamps all but suppressed tokens follow, and a space or the end does not begin a text", () => {
    expect(allowed([], 4, false)).toEqual([1, 2, ...range(4, 9), ...range(14, 34)]);
    expect(allowed([4], 4, false)).toEqual([0, 1, 2, ...range(4, 10), ...range(14, 34)]);
  });
});

describe("segments", () => {
  const window = { seek: 1000, frames: 3000 };

  it("end at pairs of timestamps, and the next window begins at the last pair", () => {
    expect(splitSegments([15, 1, 2, 20, 20, 3, 25, 25, 4], 15, window)).toEqual({
      segments: [
        { start: 10, end: 10.1, tokens: [15, 1, 2, 20] },
        { start: 10.1, end: 10.2, tokens: [20, 3, 25] },
      ],
      seek: 1020,
      endsInSilence: false,
    });
  });

  it("after one timestamp at the end nobody speaks", () => {
    const { segments, seek, endsInSilence } = splitSegments([15, 1, 20, 20, 3, 25], 15, window);
    expect([segments.length, seek, endsInSilence]).toEqual([2, 4000, true]);
  });

  it("without pairs there is one segment, up to the last timestamp or the end of the window", () => {
    expect(splitSegments([15, 1, 2, 25], 15, window)).toMatchObject({ segments: [{ start: 10, end: 10.2 }], seek: 4000 });
    expect(splitSegments([1, 2], 15, window)).toMatchObject({ segments: [{ start: 10, end: 40 }], seek: 4000 });
  });
});

describe("alignment", () => {
  it("takes the cheapest monotonic path", () => {
    const costs = Float32Array.from([0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 0]);
    expect(dynamicTimeWarping(costs, 3, 4)).toEqual({ rows: [0, 1, 1, 2], columns: [0, 1, 2, 3] });
    expect(dynamicTimeWarping(new Float32Array(4), 1, 4).columns).toEqual([0, 1, 2, 3]);
  });

  it("filters by the median, mirrored at the ends", () => {
    expect([...medianFilter(Float32Array.from([1, 9, 2, 3, 8]), 3)]).toEqual([9, 2, 3, 3, 3]);
    expect([...medianFilter(Float32Array.from([5, 1]), 7)]).toEqual([5, 1]);
  });

  it("makes weights of tokens that differ negative costs where they are high", () => {
    const weights = Float32Array.from([0.8, 0.1, 0.1, 0.1, 0.1, 0.8]);
    const costs = attentionCosts(weights, { heads: 1, tokens: 2, positions: 3 }, 3, 1);
    expect([...costs].map(Math.round)).toEqual([-1, 0, 1, 1, 0, -1]);
  });
});

it("gives words their segments, joins punctuation to them, and shortens the first one after a pause", () => {
  const word = (text: string, token: number, start: number, end: number) => ({
    word: text,
    tokens: [token],
    start,
    end,
    probability: 1,
  });
  const aligned = [
    word(" He", 1, 0, 4),
    word(" said", 2, 4, 4.3),
    word(' "', 3, 4.3, 4.4),
    word("no", 4, 4.4, 4.7),
    word(".", 5, 4.7, 4.8),
  ];
  const segments = [
    { start: 3, end: 4.3, tokens: [15, 1, 2, 20] },
    { start: 4.3, end: 4.8, tokens: [20, 3, 4, 5, 25] },
  ];
  const marks = { prepended: '"', appended: '."' };
  const [first, second] = addWordTimes(segments, aligned, { offset: 10, lastSpeech: 0, endOfText: 10, marks });
  expect(first?.words.map(({ word: text }) => text)).toEqual([" He", " said"]);
  expect(second?.words).toMatchObject([{ word: ' "no.', start: 14.4, end: 14.7 }]);
  expect(first?.words[0]?.start).toBeGreaterThan(13);
  expect([second?.start, second?.end]).toEqual([14.4, 14.7]);
});

it("tells repetitive texts by their compression", async () => {
  expect(await getCompressionRatio("no ".repeat(100))).toBeGreaterThan(10);
  expect(await getCompressionRatio("It was the best of times.")).toBeLessThan(1.5);
});
