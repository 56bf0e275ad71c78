import { describe, expect, it } from "vitest";
import { ParallelismGovernor } from "./parallelism-governor.ts";

function start() {
  const clock = { ms: 1000 };
  return { clock, balance: new ParallelismGovernor(() => clock.ms) };
}

/** How long calls are computed alone from now on. */
function debtMs({ clock, balance }: ReturnType<typeof start>): number {
  const from = clock.ms;
  while (balance.prefersSerial) clock.ms += 0.25;
  return clock.ms - from;
}

describe("the balance of sharing", () => {
  it("shares as long as it pays", () => {
    const { balance } = start();
    expect(balance.prefersSerial).toBe(false);
    for (let call = 0; call < 100; call += 1) balance.record(6, 10);
    expect(balance.prefersSerial).toBe(false);
  });

  it("lets gains pay for small losses, but not those of long ago for large ones", () => {
    const state = start();
    for (let call = 0; call < 100; call += 1) state.balance.record(6, 10);
    state.balance.record(12, 10);
    expect(state.balance.prefersSerial).toBe(false);
    state.balance.record(20, 10);
    expect(debtMs(state)).toBeCloseTo(12 * 7, 0); // 8 ms were left of the credit, and the loan of 5 ms is paid back as well
  });

  it("loses a few percent at most where sharing never pays", () => {
    const state = start();
    let lostMs = 0;
    for (let call = 0; call < 1000; call += 1) {
      while (state.balance.prefersSerial) state.clock.ms += 1;
      state.clock.ms += 13;
      lostMs += 3;
      state.balance.record(13, 10);
    }
    expect(lostMs / (state.clock.ms - 1000)).toBeLessThan(0.035);
  });

  it("waits longer each time that it brings nothing, and asks soon again after it brought something", () => {
    const state = start();
    const tryInVain = (): number => {
      for (let call = 0; call < 6; call += 1) state.balance.record(2, 1);
      return debtMs(state);
    };
    expect(Array.from({ length: 5 }, tryInVain)).toEqual([72, 72, 72, 128, 256]);
    expect([tryInVain(), tryInVain()]).toEqual([256, 256]);
    state.balance.record(1, 12);
    for (let call = 0; call < 11; call += 1) state.balance.record(2, 1);
    expect(debtMs(state)).toBe(72);
  });
});
