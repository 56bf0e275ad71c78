/** The stages of a model that are kept for further runs, those of loops' bodies among them. */
import type { Segment } from "./segment.ts";

/** The one that was not used for longest goes first. */
const maxSegments = 64;

export class SegmentCache {
  readonly #maxTracedBytes: number;
  /** Where each one hangs; the newest stands last. */
  readonly #entries = new Map<Segment, { readonly among: Map<string, Segment>; readonly key: string }>();

  /** `maxTracedBytes`: what the traces of all kept stages may hold together. */
  constructor(maxTracedBytes: number) {
    this.#maxTracedBytes = maxTracedBytes;
  }

  /** Bytes of all, beside the engine's memory. */
  get bytes(): number {
    return [...this.#entries.keys()].reduce((sum, stage) => sum + stage.bytes, 0);
  }

  get hasExecutables(): boolean {
    return [...this.#entries.keys()].some(({ hasExecutable }) => hasExecutable);
  }

  /** Bytes of the largest arena that one of them computes in. */
  get arenaBytes(): number {
    return Math.max(0, ...[...this.#entries.keys()].map(({ arenaBytes }) => arenaBytes));
  }

  /** Hangs a new stage up, where room can be made: never by taking one of the same run, or one that others come after. */
  insert(stage: Segment, among: Map<string, Segment>, key: string): boolean {
    while (
      this.#entries.size >= maxSegments ||
      (this.#entries.size > 0 && this.#tracedBytes + stage.tracedBytes > this.#maxTracedBytes)
    ) {
      const oldest = [...this.#entries.keys()].find((each) => each.isLeaf && each.lastRun !== stage.lastRun);
      if (oldest === undefined) return false;
      this.evict(oldest);
    }
    this.#entries.set(stage, { among, key });
    among.set(key, stage);
    return true;
  }

  touch(stage: Segment, run: number): void {
    stage.lastRun = run;
    const place = this.#entries.get(stage);
    if (place === undefined) return;
    this.#entries.delete(stage);
    this.#entries.set(stage, place);
  }

  /** Lets a stage go, with all that come after it. */
  evict(stage: Segment): void {
    for (const each of [...stage.successors.values(), ...(stage.loopBody?.firstSegments ?? [])]) this.evict(each);
    const place = this.#entries.get(stage);
    this.#entries.delete(stage);
    place?.among.delete(place.key);
    stage.dispose();
  }

  get #tracedBytes(): number {
    return [...this.#entries.keys()].reduce((sum, { tracedBytes }) => sum + tracedBytes, 0);
  }

  has(stage: Segment): boolean {
    return this.#entries.has(stage);
  }

  clear(): void {
    for (const stage of this.#entries.keys()) this.evict(stage);
  }
}
