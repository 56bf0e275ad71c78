/** Which edges of src/ an input reached, from the counters of `register.mjs`. */

interface EdgeCounters {
  readonly counters: Uint8Array;
  used: number;
}

export class Edges {
  readonly #edges: EdgeCounters;
  /** By edge: a bit for each class of counts that was seen. */
  readonly #seen: Uint8Array;
  features = 0;
  covered = 0;

  /** Throws in a process that was started without `register.mjs`. */
  constructor() {
    const { __edges: edges } = globalThis as { __edges?: EdgeCounters };
    if (edges === undefined) throw new Error("edges are not counted: start this process with --import scripts/fuzz/coverage/register.mjs");
    this.#edges = edges;
    this.#seen = new Uint8Array(edges.counters.length);
  }

  /** Edges of the modules loaded so far. */
  get total(): number {
    return this.#edges.used;
  }

  reset(): void {
    this.#edges.counters.fill(0, 0, this.#edges.used);
  }

  /** Features (an edge with a class of counts) that no input reached before the one since `reset`; they count as seen from now on. */
  take(): number {
    const { counters, used } = this.#edges;
    let fresh = 0;
    for (let edge = 0; edge < used; edge += 1) {
      const count = counters[edge]!;
      if (count === 0) continue;
      const bit = 1 << classOf(count);
      const seen = this.#seen[edge]!;
      if ((seen & bit) !== 0) continue;
      if (seen === 0) this.covered += 1;
      this.#seen[edge] = seen | bit;
      fresh += 1;
    }
    this.features += fresh;
    return fresh;
  }

  /** The edges reached since `reset`, with their classes, as keys: for choosing the inputs of a small corpus. */
  reached(): number[] {
    const { counters, used } = this.#edges;
    const keys: number[] = [];
    for (let edge = 0; edge < used; edge += 1) if (counters[edge] !== 0) keys.push(edge);
    return keys;
  }
}

/** libFuzzer's classes of counts: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128-255. Counters wrap at 256. */
function classOf(count: number): number {
  if (count < 4) return count - 1;
  if (count < 8) return 3;
  if (count < 16) return 4;
  if (count < 32) return 5;
  return count < 128 ? 6 : 7;
}
