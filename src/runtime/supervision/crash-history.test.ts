import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CrashHistory } from "./crash-history.ts";

function start(maxCrashes = 5, windowMs = 60_000): { crashes: CrashHistory; pass: (milliseconds: number) => void } {
  let now = 0;
  return { crashes: new CrashHistory({ maxCrashes, windowMs }, () => now), pass: (milliseconds) => (now += milliseconds) };
}

describe("crashes", () => {
  it("the first restart waits for nothing, each further one twice as long as the one before", () => {
    const { crashes, pass } = start(100);
    const waits = Array.from({ length: 11 }, () => {
      pass(1);
      crashes.add();
      return crashes.waitMs;
    });
    expect(waits).toEqual([0, 250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000]);
  });

  it("the wait passes while nobody asks", () => {
    const { crashes, pass } = start();
    crashes.add();
    crashes.add();
    pass(200);
    expect(crashes.waitMs).toBe(50);
    pass(100);
    expect(crashes.waitMs).toBe(0);
  });

  it("deaths that are long ago count no more", () => {
    const { crashes, pass } = start(3, 1000);
    crashes.add();
    pass(600);
    crashes.add();
    pass(600);
    expect([crashes.add(), crashes.count, crashes.waitMs]).toEqual(["restart", 2, 250]);
  });

  it("the time of a hang is not counted: hangs longer than the window are a loop, and each further one rests at once", () => {
    const { crashes, pass } = start(3, 1000);
    const verdicts = Array.from({ length: 4 }, () => {
      pass(5000);
      return crashes.add(4990);
    });
    expect(verdicts).toEqual(["restart", "restart", "crash-loop", "crash-loop"]);
  });

  it("a hang does not bring back deaths that were long ago when it began, nor put any into the future", () => {
    const { crashes, pass } = start(3, 1000);
    crashes.add();
    pass(6000);
    crashes.add(100);
    expect(crashes.count).toBe(1);
    pass(10);
    crashes.add();
    crashes.add(500); // the death before was that of a copy, during this hang
    expect(crashes.waitMs).toBe(500);
  });

  it("so many within the window are a loop", () => {
    const { crashes } = start(3);
    expect([crashes.add(), crashes.add(), crashes.add()]).toEqual(["restart", "restart", "crash-loop"]);
  });

  it("after a rest one death is enough, until it has lived for a window", () => {
    const { crashes, pass } = start(3, 1000);
    for (let death = 0; death < 3; death += 1) crashes.add();
    pass(1500); // the rest, and a little more
    expect([crashes.count, crashes.add()]).toEqual([0, "crash-loop"]);
    pass(2000);
    expect(crashes.add()).toBe("restart");
  });

  it("never waits longer than the longest delay, and rests exactly when there are too many", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(3000), { maxLength: 40 }), (gaps) => {
        const { crashes, pass } = start(4, 5000);
        for (const gap of gaps) {
          pass(gap);
          const verdict = crashes.add();
          expect(crashes.waitMs).toBeLessThanOrEqual(30_000);
          expect(crashes.count < 4 || verdict === "crash-loop").toBe(true);
        }
      }),
    );
  });
});
