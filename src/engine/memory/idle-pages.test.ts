import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { EngineMemory } from "./engine-memory.ts";
import { type DiscardPages, pageBytes } from "./idle-pages.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const mebibyte = 2 ** 20;
/** Overwrites discarded pages with non-zero bytes, so that a read of a discarded page is detected; the operating system would give zeros. */
const overwriting = (ranges: [number, number][]): (() => Promise<DiscardPages>) => {
  const discard: DiscardPages = (buffer, start, bytes) => {
    ranges.push([start, bytes]);
    new Uint8Array(buffer, start, bytes).fill(0xff);
  };
  return async () => discard;
};

it("free blocks are discarded a while after they were freed, whole pages of them, and none in use", async () => {
  const ranges: [number, number][] = [];
  const memory = new EngineMemory({ shared: false, openDiscard: overwriting(ranges) });
  const sizes = [3 * mebibyte, 1000, 5 * mebibyte, 70_000];
  const starts = sizes.map((bytes) => memory.allocate(bytes));
  const [first = 0, small = 0, large = 0, last = 0] = starts;
  for (const start of [small, last]) new Uint8Array(memory.memory.buffer, start, 1000).fill(7);
  memory.release(first, 3 * mebibyte);
  memory.release(large, 5 * mebibyte);
  expect(ranges).toEqual([]);
  await vi.runAllTimersAsync();
  expect(ranges).toHaveLength(2);
  for (const [start, bytes] of ranges) expect([start % pageBytes, bytes % pageBytes]).toEqual([0, 0]);
  expect(ranges.reduce((sum, [, bytes]) => sum + bytes, 0)).toBeGreaterThan(8 * mebibyte - 4 * pageBytes);
  for (const start of [small, last])
    expect(new Uint8Array(memory.memory.buffer, start, 1000).every((value) => value === 7)).toBe(true);
  const again = memory.allocate(5 * mebibyte);
  expect(new Uint8Array(memory.memory.buffer, again, 5 * mebibyte).every((value) => value === 0)).toBe(true);
});

it("little that is freed, a closed memory and a machine without such a call discard nothing", async () => {
  const ranges: [number, number][] = [];
  const little = new EngineMemory({ shared: false, openDiscard: overwriting(ranges) });
  little.release(little.allocate(mebibyte), mebibyte);
  const closed = new EngineMemory({ shared: false, openDiscard: overwriting(ranges) });
  closed.release(closed.allocate(8 * mebibyte), 8 * mebibyte);
  closed.close();
  const without = new EngineMemory({ shared: false, openDiscard: async () => undefined });
  without.release(without.allocate(8 * mebibyte), 8 * mebibyte);
  await vi.runAllTimersAsync();
  expect(ranges).toEqual([]);
});
