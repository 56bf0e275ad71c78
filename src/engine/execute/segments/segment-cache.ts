/** A cache of the segments of a model, including segments of loop bodies. */
import type { Segment } from "./segment.ts";

/**
 * Upper bound on segments; the least recently used is evicted first. A loop whose body depends on its counter has several segments for each iteration,
 * and decoders written as such loops make hundreds of iterations.
 */
const maxSegments = 4096;
/** Upper bound on the bytes of all segments while there are more than a few. */
const [fewSegments, maxBytesOfMany] = [64, 2 ** 27];

/** A cache of segments with least-recently-used eviction. */
export class SegmentCache {
  readonly #maxBytes: number;
  #heldBytes = 0;
  /** The map and the key under which each segment is registered, ordered from the least to the most recently used segment. */
  readonly #entries = new Map<Segment, { readonly among: Map<string, Segment>; readonly key: string }>();

  /** `maxBytes`: bytes that the traces and executables of all cached segments may hold together. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
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
    const bytes = getHeldBytes(segment);
    while (this.#isFull(bytes)) {
      const oldest = this.#findOldestLeaf(segment.lastRun);
      if (oldest === undefined) return false;
      this.evict(oldest);
    }
    this.#entries.set(segment, { among, key });
    this.#heldBytes += bytes;
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
    if (place !== undefined) {
      this.#entries.delete(segment);
      this.#heldBytes -= getHeldBytes(segment);
      place.among.delete(place.key);
    }
    segment.dispose();
  }

  #isFull(bytesToAdd: number): boolean {
    const { size } = this.#entries;
    const maxBytes = size < fewSegments ? this.#maxBytes : Math.min(this.#maxBytes, maxBytesOfMany);
    return size >= maxSegments || (size > 0 && this.#heldBytes + bytesToAdd > maxBytes);
  }

  #findOldestLeaf(currentRun: number): Segment | undefined {
    for (const each of this.#entries.keys()) if (each.isLeaf && each.lastRun !== currentRun) return each;
    return undefined;
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

function getHeldBytes({ tracedBytes, bytes }: Segment): number {
  return tracedBytes + bytes;
}
