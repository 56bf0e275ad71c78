import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { PullMeter, type PullProgress } from "./progress.ts";

describe("PullMeter", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function watched(): { meter: PullMeter; told: PullProgress[] } {
    const told: PullProgress[] = [];
    return { meter: new PullMeter("hf:owner/name", (progress) => told.push(progress)), told };
  }

  it("reports bytes that arrived too soon after the last report, also if nothing arrives after them", () => {
    const { meter, told } = watched();
    meter.addReceived(10, "a");
    meter.addReceived(20, "a");
    meter.addReceived(30, "a");
    expect(told.map(({ bytes }) => bytes)).toEqual([10]);
    vi.advanceTimersByTime(100);
    expect(told.map(({ bytes }) => bytes)).toEqual([10, 60]);
    vi.advanceTimersByTime(1000);
    expect(told).toHaveLength(2);
  });

  it('reports nothing after "done" or a failure', () => {
    const { meter, told } = watched();
    meter.addReceived(10, "a");
    meter.addReceived(20, "a");
    meter.report("done");
    vi.advanceTimersByTime(1000);
    expect(told.map(({ stage, bytes }) => [stage, bytes])).toEqual([
      ["fetching", 10],
      ["done", 30],
    ]);
    meter.addReceived(5, "b");
    meter.addReceived(6, "b");
    meter.cancelPendingReport();
    vi.advanceTimersByTime(1000);
    expect(told.map(({ bytes }) => bytes)).toEqual([10, 30, 35]);
  });
});
