/** A cache of the segments of a model, including segments of loop bodies. */
import type { Segment } from "./segment.ts";

/** Upper bound on segments; the least recently used is evicted first. */
const maxSegments = 64;

/** A cache of segments with least-recently-used eviction. */
export class SegmentCache {
  readonly #maxTracedBytes: number;
  /** The map and the key under which each segment is registered, ordered from the least to the most recently used segment. */
  readonly #entries = new Map<Segment, { readonly among: Map<string, Segment>; readonly key: string }>();

  /** `maxTracedBytes`: bytes that the traces of all cached segments may hold together. */
  constructor(maxTracedBytes: number) {
    this.#maxTracedBytes = maxTracedBytes;
  }

  /** Bytes that all cached segments hold outside of engine memory. */
  get bytes(): number {
    return [...this.#entries.keys()].reduce((sum, segment) => sum + segment.bytes, 0);
  }

  /** Whether any cached segment is compiled. */
  get hasExecutables(): boolean {
    return [...this.#entries.keys()].some(({ hasExecutable }) => hasExecutable);
  }

  /** Size in bytes of the largest arena that a cached segment needs. */
  get arenaBytes(): number {
    return Math.max(0, ...[...this.#entries.keys()].map(({ arenaBytes }) => arenaBytes));
  }

  /**
   * Registers a segment under `key` in `among`. Evicts others to make room, but none of the current run and none with successors; returns false when
   * that is not enough.
   */
  insert(segment: Segment, among: Map<string, Segment>, key: string): boolean {
    while (
      this.#entries.size >= maxSegments ||
      (this.#entries.size > 0 && this.#tracedBytes + segment.tracedBytes > this.#maxTracedBytes)
    ) {
      const oldest = [...this.#entries.keys()].find((each) => each.isLeaf && each.lastRun !== segment.lastRun);
      if (oldest === undefined) return false;
      this.evict(oldest);
    }
    this.#entries.set(segment, { among, key });
    among.set(key, segment);
    return true;
  }

  /** Marks a segment as the most recently used one. `run` is the sequence number of the run that uses it. */
  touch(segment: Segment, run: number): void {
    segment.lastRun = run;
    const place = this.#entries.get(segment);
    if (place === undefined) return;
    this.#entries.delete(segment);
    this.#entries.set(segment, place);
  }

  /** Removes a segment and all its successors, and releases their executables. */
  evict(segment: Segment): void {
    for (const each of [...segment.successors.values(), ...(segment.loopBody?.firstSegments ?? [])]) this.evict(each);
    const place = this.#entries.get(segment);
    this.#entries.delete(segment);
    place?.among.delete(place.key);
    segment.dispose();
  }

  get #tracedBytes(): number {
    return [...this.#entries.keys()].reduce((sum, { tracedBytes }) => sum + tracedBytes, 0);
  }

  /** Whether the segment is cached. */
  has(segment: Segment): boolean {
    return this.#entries.has(segment);
  }

  /** Removes all segments. */
  clear(): void {
    for (const segment of this.#entries.keys()) this.evict(segment);
  }
}
