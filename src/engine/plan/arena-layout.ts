/** Gives buffers their places in one block of memory, so that those which live at the same time do not overlap. */

export interface Lifetime {
  readonly bytes: number;
  /** The first and the last step that needs it. */
  readonly from: number;
  readonly to: number;
}

export interface ArenaLayout {
  /** Bytes from the block's start, for each lifetime. */
  readonly offsets: readonly number[];
  readonly bytes: number;
}

/** Of buffers and of the whole block. */
const alignment = 64;

/**
 * Largest first, each at the lowest place that is free while it lives (Pisarchyk and Lee 2020, "greedy by size"). The time is quadratic in the number
 * of buffers: `onBuffer` is called for each, and may throw.
 */
export function assignOffsets(lifetimes: readonly Lifetime[], padding: number, onBuffer: () => void = () => {}): ArenaLayout {
  const order = [...lifetimes.keys()].sort(
    (one, other) => (lifetimes[other]?.bytes ?? 0) - (lifetimes[one]?.bytes ?? 0) || one - other,
  );
  const offsets = Array.from(lifetimes, () => 0);
  const placed: { readonly start: number; readonly end: number; readonly life: Lifetime }[] = [];
  let bytes = 0;
  for (const index of order) {
    const life = lifetimes[index];
    if (life === undefined) continue;
    onBuffer();
    const size = Math.ceil((life.bytes + padding) / alignment) * alignment;
    let start = 0;
    for (const other of placed) {
      if (other.life.to < life.from || other.life.from > life.to) continue;
      if (other.start >= start + size) break;
      start = Math.max(start, other.end);
    }
    offsets[index] = start;
    const end = start + size;
    bytes = Math.max(bytes, end);
    const at = placed.findIndex((other) => other.start > start);
    placed.splice(at < 0 ? placed.length : at, 0, { start, end, life });
  }
  return { offsets, bytes };
}
