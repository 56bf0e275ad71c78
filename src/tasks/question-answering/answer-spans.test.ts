import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AnswerSpan, type WindowLogits, bestSpans, mergeAnswers } from "./answer-spans.ts";

/** Every pair of tokens, as the definition says it, with nothing left out early. */
function naive(
  { start, end, isContext, classToken }: WindowLogits,
  longest: number,
): { first: number; last: number; score: number }[] {
  const share = (logits: Float32Array): number[] => {
    const powers = Array.from(logits, (logit, place) => (isContext[place] || place === classToken ? Math.exp(logit) : 0));
    const sum = powers.reduce((total, power) => total + power, 0);
    return powers.map((power) => (sum === 0 ? 0 : power / sum));
  };
  const [starts, ends] = [share(start), share(end)];
  const pairs: { first: number; last: number; score: number }[] = [];
  for (let first = 0; first < start.length; first += 1)
    for (let last = first; last < start.length; last += 1)
      if (isContext[first] && isContext[last] && last - first < longest)
        pairs.push({ first, last, score: starts[first]! * ends[last]! });
  return pairs.sort((a, b) => b.score - a.score);
}

const windows = fc
  .array(fc.record({ start: fc.integer({ min: -9, max: 9 }), end: fc.integer({ min: -9, max: 9 }), inside: fc.boolean() }), {
    maxLength: 24,
  })
  .map((tokens): WindowLogits => ({
    start: Float32Array.from([2, ...tokens.map(({ start }) => start)]),
    end: Float32Array.from([1, ...tokens.map(({ end }) => end)]),
    isContext: [false, ...tokens.map(({ inside }) => inside)],
    classToken: 0,
  }));

describe("spans of one window", () => {
  it("are the best of all pairs of context tokens that are short enough", () => {
    fc.assert(
      fc.property(windows, fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 30 }), (window, longest, limit) => {
        const { spans } = bestSpans(window, limit, longest);
        const expected = naive(window, longest).slice(0, limit);
        expect(spans.length).toBe(expected.length);
        for (const [place, { score, item }] of spans.entries()) {
          expect(score).toBeCloseTo(expected[place]!.score, 12);
          expect(window.isContext[item.first] && window.isContext[item.last]).toBe(true);
          expect(item.last - item.first).toBeLessThan(longest);
        }
      }),
    );
  });

  it("the score is a probability by hand: two tokens of the context and the class token", () => {
    const start = Float32Array.of(0, 5, Math.log(3), 0);
    const end = Float32Array.of(0, 5, 0, Math.log(2));
    const { spans, nullScore } = bestSpans({ start, end, isContext: [false, false, true, true], classToken: 0 }, 2, 15);
    // The question's token (5) takes no part: starts are 1, 3, 1 of 5, ends 1, 1, 2 of 4.
    expect(spans[0]).toMatchObject({ item: { first: 2, last: 3 }, score: expect.closeTo((3 / 5) * (2 / 4), 6) as number });
    expect(spans[1]).toMatchObject({ item: { first: 2, last: 2 }, score: expect.closeTo((3 / 5) * (1 / 4), 6) as number });
    expect(nullScore).toBeCloseTo((1 / 5) * (1 / 4), 6);
  });

  it("without a class token nothing says that there is no answer", () => {
    const { spans, nullScore } = bestSpans(
      { start: Float32Array.of(9, 1), end: Float32Array.of(9, 1), isContext: [false, true], classToken: undefined },
      1,
      15,
    );
    expect(nullScore).toBe(0);
    expect(spans[0]?.score).toBe(1);
  });

  it("huge logits make no infinity", () => {
    const huge = Float32Array.of(3e38, 3e38, -3e38);
    const { spans } = bestSpans({ start: huge, end: huge, isContext: [false, true, true], classToken: 0 }, 1, 15);
    expect(spans[0]?.score).toBeCloseTo(0.25, 12);
  });

  it("a window without context has no span", () => {
    const { spans } = bestSpans({ start: Float32Array.of(1), end: Float32Array.of(1), isContext: [false], classToken: 0 }, 3, 15);
    expect(spans).toEqual([]);
  });
});

describe("answers of several windows", () => {
  const span = (start: number, end: number, score: number): AnswerSpan => ({ start, end, score });

  it("in a window the same words add up, whatever their case, at the place of the best", () => {
    const merged = mergeAnswers([[span(0, 5, 0.4), span(9, 14, 0.3), span(0, 8, 0.2)]], "Paris is paris");
    expect(merged.map(({ start, end }) => [start, end])).toEqual([
      [0, 5],
      [0, 8],
    ]);
    expect(merged[0]?.score).toBeCloseTo(0.7, 12);
  });

  it("of several windows the surest counts, so that no score is above 1", () => {
    const merged = mergeAnswers([[span(0, 5, 0.6)], [span(9, 14, 0.9)]], "Paris is paris");
    expect(merged).toEqual([span(9, 14, 0.9)]);
  });
});
