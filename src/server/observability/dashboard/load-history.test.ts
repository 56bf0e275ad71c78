import { describe, expect, it } from "vitest";
import { LoadRecorder } from "./load-history.ts";

const call = { model: "builtin", queueMs: 0, inferenceMs: 1, endedAt: 1 };
const text = { tokens: [1, 2, 3, 4], promptTokens: 6, cachedTokens: 0, finishReason: "stop", timings: {} as never };

describe("LoadRecorder", () => {
  it("gives sums of periods of five seconds, the newest last", () => {
    let now = 1_000_000;
    let waiting = 2;
    const recorder = new LoadRecorder(
      () => waiting,
      () => now,
    );
    recorder.request({}); // asked no model
    recorder.request({ call: { ...call, tokens: 7 } });
    now += 5000;
    waiting = 0;
    recorder.request({ call: { ...call, inferenceMs: 6000, texts: [text, text] } });
    const { seconds, requests, tokens, waiting: waited } = recorder.history();
    expect([seconds, requests.length]).toEqual([5, 60]);
    expect(requests.slice(-3)).toEqual([0, 1, 1]);
    expect(waited.slice(-3)).toEqual([0, 2, 0]);
    expect(tokens.slice(-3)).toEqual([10, 17, 0]); // 20 tokens over the six seconds before a period began, and 7 at once
    expect(tokens.reduce((sum, each) => sum + each)).toBe(27);
  });

  it("forgets what is older than five minutes, and begins again after a silence", () => {
    let now = 0;
    const recorder = new LoadRecorder(
      () => 0,
      () => now,
    );
    recorder.request({ call: { ...call, inferenceMs: 1e9, tokens: 1e6 } });
    expect(recorder.history().tokens.reduce((sum, each) => sum + each)).toBeLessThan(1000);
    now = 10_000_000;
    expect(recorder.history().requests.every((each) => each === 0)).toBe(true);
    recorder.request({ call });
    expect(recorder.history().requests.at(-1)).toBe(1);
  });
});
