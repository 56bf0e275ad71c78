import { describe, expect, it } from "vitest";
import { TransientError, type Retry, retryAfterMs, withRetries } from "./retry.ts";

const timing = { attempts: 3, initialDelayMs: 1, maxDelayMs: 4, maxRetryAfterMs: 50, stallMs: 1 };

describe("Retry-After", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");
  it.each([
    [null, undefined],
    ["0", 0],
    ["7", 7000],
    ["Sat, 21 Nov 2026 12:00:30 GMT", 30_000],
    ["Sat, 21 Nov 2026 11:00:00 GMT", 0],
    ["soon", undefined],
  ])("%s", (text, expected) => expect(retryAfterMs(text, now)).toBe(expected));
});

describe("retries", () => {
  const options = { timing, what: "it", url: "http://x" };
  const failing = (times: number, error: () => Error, waits: Retry[] = []): Promise<string> => {
    let count = 0;
    return withRetries({ ...options, onRetry: (retry) => void waits.push(retry) }, async () => {
      count += 1;
      if (count <= times) throw error();
      return "done";
    });
  };

  it("waits as long as the server asks, and else a little longer each time, never twice the same", async () => {
    const waits: Retry[] = [];
    expect(await failing(2, () => new TransientError("busy", { retryAfterMs: 3 }), waits)).toBe("done");
    expect(waits).toEqual([
      { reason: "busy", waitMs: 3 },
      { reason: "busy", waitMs: 3 },
    ]);
    const own: Retry[] = [];
    await failing(2, () => new TransientError("cut"), own);
    expect(own[0]?.waitMs).toBeGreaterThanOrEqual(0.5);
    expect(own[0]?.waitMs).toBeLessThanOrEqual(1);
    expect(own[1]?.waitMs).toBeGreaterThanOrEqual(1);
    expect(own[1]?.waitMs).toBeLessThanOrEqual(2);
  });

  it("gives up after the attempts that are allowed, and passes anything else on at once", async () => {
    await expect(failing(3, () => new TransientError("cut", { status: 500 }))).rejects.toMatchObject({
      code: "DOWNLOAD_FAILED",
      data: { attempts: 3, status: 500, url: "http://x" },
    });
    await expect(failing(1, () => new TypeError("a defect"))).rejects.toThrow(TypeError);
  });

  it("resets the number of failures after an attempt that received at least 256 KiB, and not after a few bytes", async () => {
    const cuts = async (bytesEach: number): Promise<number> => {
      let [arrived, attempts] = [0, 0];
      await withRetries({ ...options, arrived: () => arrived }, async () => {
        attempts += 1;
        arrived += bytesEach;
        if (attempts < 10) throw new TransientError("cut");
      }).catch(() => undefined);
      return attempts;
    };
    expect(await cuts(1e6)).toBe(10);
    expect(await cuts(10)).toBe(3);
  });
});
