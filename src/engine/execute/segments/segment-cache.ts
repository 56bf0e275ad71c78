/** The stages of a model that are kept for further runs, those of loops' bodies among them. */
import type { Stage } from "./segment.ts";

/** The one that was not used for longest goes first. */
const mostStages = 64;

export class KeptStages {
  readonly #maxTracedBytes: number;
  /** Where each one hangs; the newest stands last. */
  readonly #places = new Map<Stage, { readonly among: Map<string, Stage>; readonly key: string }>();

  /** `maxTracedBytes`: what the traces of all kept stages may hold together. */
  constructor(maxTracedBytes: number) {
    this.#maxTracedBytes = maxTracedBytes;
  }

  /** Bytes of all, beside the engine's memory. */
  get bytes(): number {
    return [...this.#places.keys()].reduce((sum, stage) => sum + stage.bytes, 0);
  }

  get hasPrograms(): boolean {
    return [...this.#places.keys()].some(({ hasProgram }) => hasProgram);
  }

  /** Bytes of the largest arena that one of them computes in. */
  get arenaBytes(): number {
    return Math.max(0, ...[...this.#places.keys()].map(({ arenaBytes }) => arenaBytes));
  }

  /** Hangs a new stage up, where room can be made: never by taking one of the same run, or one that others come after. */
  keep(stage: Stage, among: Map<string, Stage>, key: string): boolean {
    while (
      this.#places.size >= mostStages ||
      (this.#places.size > 0 && this.#tracedBytes + stage.tracedBytes > this.#maxTracedBytes)
    ) {
      const oldest = [...this.#places.keys()].find((each) => each.isLeaf && each.lastRun !== stage.lastRun);
      if (oldest === undefined) return false;
      this.discard(oldest);
    }
    this.#places.set(stage, { among, key });
    among.set(key, stage);
    return true;
  }

  touch(stage: Stage, run: number): void {
    stage.lastRun = run;
    const place = this.#places.get(stage);
    if (place === undefined) return;
    this.#places.delete(stage);
    this.#places.set(stage, place);
  }

  /** Lets a stage go, with all that come after it. */
  discard(stage: Stage): void {
    for (const each of [...stage.next.values(), ...(stage.rounds?.stages ?? [])]) this.discard(each);
    const place = this.#places.get(stage);
    this.#places.delete(stage);
    place?.among.delete(place.key);
    stage.dispose();
  }

  get #tracedBytes(): number {
    return [...this.#places.keys()].reduce((sum, { tracedBytes }) => sum + tracedBytes, 0);
  }

  isKept(stage: Stage): boolean {
    return this.#places.has(stage);
  }

  clear(): void {
    for (const stage of this.#places.keys()) this.discard(stage);
  }
}
