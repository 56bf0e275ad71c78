/** Assigns buffers offsets in one block of memory so that buffers that are alive at the same time do not overlap. */
import { at } from "../../contract/checked.ts";

/** The size of a buffer, and the first and last step during which it is needed. */
export interface Lifetime {
  /** Size in bytes. */
  readonly bytes: number;
  /** First step that needs it. */
  readonly from: number;
  /** Last step that needs it. */
  readonly to: number;
}

/** Offsets of all buffers in one block of memory, the arena, where buffers with disjoint lifetimes share bytes. */
export interface ArenaLayout {
  /** Bytes from the start of the block, in the order of the lifetimes. */
  readonly offsets: readonly number[];
  /** Size of the block in bytes. */
  readonly bytes: number;
}

/** Alignment in bytes of each buffer in engine memory and of the size of its block. */
export const bufferAlignment = 64;

/**
 * Assigns offsets greedily by size (Pisarchyk and Lee 2020, "Efficient Memory Management for Deep Neural Net Inference"): the largest buffer first,
 * each at the lowest offset that is free during its lifetime. Each buffer is followed by at least `padding` unused bytes. Takes quadratic time in the
 * number of buffers; `onBuffer` is called for each and may throw to stop.
 */
export function assignOffsets(lifetimes: readonly Lifetime[], padding: number, onBuffer: () => void = () => {}): ArenaLayout {
  const order = [...lifetimes.entries()].sort(([one, a], [other, b]) => b.bytes - a.bytes || one - other);
  const offsets = Array.from(lifetimes, () => 0);
  const placed: { readonly start: number; readonly end: number; readonly from: number; readonly to: number }[] = []; // by start
  let bytes = 0;
  for (const [index, life] of order) {
    onBuffer();
    const { from, to } = life;
    const size = Math.ceil((life.bytes + padding) / bufferAlignment) * bufferAlignment;
    let start = 0;
    for (const other of placed) {
      if (other.to < from || other.from > to) continue;
      if (other.start >= start + size) break;
      if (other.end > start) start = other.end;
    }
    offsets[index] = start;
    const end = start + size;
    bytes = Math.max(bytes, end);
    placed.splice(firstAfter(placed, start), 0, { start, end, from, to });
  }
  return { offsets, bytes };
}

/** Index of the first buffer that starts after `start`, in a list sorted by start. */
function firstAfter(placed: readonly { readonly start: number }[], start: number): number {
  let [low, high] = [0, placed.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(placed, middle).start > start) high = middle;
    else low = middle + 1;
  }
  return low;
}
