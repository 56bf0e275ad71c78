import { describe, expect, it } from "vitest";
import { RecentRequests } from "./recent-requests.ts";

const call = { model: "builtin", queueMs: 0, inferenceMs: 1, endedAt: 1 };

describe("RecentRequests", () => {
  it("says of the last minute how many, how quick and how many failed", () => {
    let now = 0;
    const recent = new RecentRequests(() => now);
    expect(recent.summary()).toEqual({ seconds: 60, requests: 0, failed: 0, p50: null, p99: null });
    recent.request({ call, milliseconds: 1000, status: 200 });
    recent.request({ milliseconds: 5, status: 404 }); // asked no model
    now = 50_000;
    for (let index = 1; index <= 99; index += 1) recent.request({ call, milliseconds: index, status: index === 1 ? 503 : 200 });
    expect(recent.summary()).toEqual({ seconds: 60, requests: 100, failed: 1, p50: 51, p99: 1000 });
    now = 70_000;
    expect(recent.summary()).toMatchObject({ requests: 99, p50: 50, p99: 99 });
    now = 200_000;
    expect(recent.summary()).toMatchObject({ requests: 0, p50: null });
  });
});
