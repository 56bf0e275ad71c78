/**
 * Who has which part of a memory that copies of a model share: a table of regions in words that all their threads see. Nobody ever waits here,
 * so a thread that ends at any step leaves nothing locked: at worst some bytes that nobody uses until all copies are gone. A region is large
 * and never moves; within it its owner hands out blocks (see `Blocks`). What a copy had that has ended goes to whoever wants as much.
 */
import { InferyardError } from "../../errors.ts";

/** Numbers of the copies whose threads live, each in a word; 0 where there is none. No number is ever used again. */
export type ReplicaIds = Int32Array;

export interface Region {
  readonly entry: number;
  readonly start: number;
  readonly bytes: number;
}

const unitBytes = 64;
/** 4 GiB. */
const maxUnits = 2 ** 26;
const maxRegions = 2048;
/** Regions are whole pages: few are needed then. */
const pageUnits = 1024;
const words = { end: 0, count: 1, entries: 2 } as const;
const entryWords = { start: 0, units: 1, owner: 2 } as const;
const entrySize = 3;
const unowned = 0;
/** Owns what all copies read, for as long as the memory is there. */
const sharedByAll = -1;

export class RegionTable {
  readonly #words: Int32Array;
  readonly #replicaIds: ReplicaIds;
  readonly #owner: number;
  readonly #ensureBytes: (bytes: number) => void;

  /**
   * `buffer`: of another copy; new where absent. `owner`: the number of this one, which stands among `members`. `reach` makes the memory so many
   * bytes long, or throws.
   */
  constructor(
    options: { readonly buffer: ArrayBufferLike | undefined; readonly members: ReplicaIds; readonly owner: number },
    reach: (bytes: number) => void,
  ) {
    this.#words = new Int32Array(options.buffer ?? newTable(options.members));
    this.#replicaIds = options.members;
    this.#owner = options.owner;
    this.#ensureBytes = reach;
  }

  /** To be posted to other copies. */
  get buffer(): ArrayBufferLike {
    return this.#words.buffer;
  }

  /** A region of at least so many bytes, whatever they hold: one that was left, perhaps made longer, or a new one. OUT_OF_MEMORY. */
  claim(bytes: number): Region {
    const wanted = Math.ceil(bytes / unitBytes / pageUnits) * pageUnits;
    for (;;) {
      const living = this.#liveOwners();
      const end = this.#load(words.end);
      const best = this.#entries()
        .filter(({ start, units, owner }) => isFree(owner, living) && (units >= wanted || (units > 0 && start + units === end)))
        .toSorted((one, other) => Number(one.units < wanted) - Number(other.units < wanted) || one.units - other.units)[0];
      if (best === undefined) return this.#append(wanted);
      if (!this.#compareExchange(best.entry + entryWords.owner, best.owner, this.#owner)) continue; // another was faster
      const units = this.#load(best.entry + entryWords.units);
      const region = { entry: best.entry, start: best.start * unitBytes, bytes: units * unitBytes };
      try {
        const long = units >= wanted ? region : this.extend(region, (wanted - units) * unitBytes);
        if (long !== undefined) {
          this.#ensureBytes(long.start + long.bytes); // what another thread has grown shows here now
          return long;
        }
      } catch (error) {
        this.#compareExchange(best.entry + entryWords.owner, this.#owner, unowned);
        throw error;
      }
      this.#compareExchange(best.entry + entryWords.owner, this.#owner, unowned); // it is the last one no more
    }
  }

  /** The same region with so many bytes more behind it, where nothing lies there yet; else undefined. OUT_OF_MEMORY. */
  extend(region: Region, bytes: number): Region | undefined {
    const [first, units] = [region.start / unitBytes, region.bytes / unitBytes];
    const wanted = units + Math.ceil(bytes / unitBytes / pageUnits) * pageUnits;
    if (this.#load(words.end) !== first + units) return undefined;
    this.#ensureUnits(first + wanted);
    if (!this.#compareExchange(words.end, first + units, first + wanted)) return undefined;
    Atomics.store(this.#words, region.entry + entryWords.units, wanted);
    return { ...region, bytes: wanted * unitBytes };
  }

  /** From now on all copies may read what lies there, and none writes over it. */
  publish({ entry }: Region): void {
    Atomics.store(this.#words, entry + entryWords.owner, sharedByAll);
  }

  /** All regions of this copy may be taken by others. */
  releaseAll(): void {
    for (const { entry } of this.#entries()) this.#compareExchange(entry + entryWords.owner, this.#owner, unowned);
  }

  /** Bytes of the memory that belong to copies that live, each with its number; the rest is shared, or free. */
  get usage(): { readonly all: number; readonly own: number; readonly others: number } {
    const living = this.#liveOwners();
    let [own, others] = [0, 0];
    for (const { units, owner } of this.#entries()) {
      if (owner === this.#owner) own += units;
      else if (owner !== sharedByAll && !isFree(owner, living)) others += units;
    }
    return { all: this.#load(words.end) * unitBytes, own: own * unitBytes, others: others * unitBytes };
  }

  #append(wanted: number): Region {
    if (this.#load(words.count) >= maxRegions) throw outOfEngineMemory(wanted * unitBytes, undefined);
    for (;;) {
      const end = this.#load(words.end);
      this.#ensureUnits(end + wanted);
      if (!this.#compareExchange(words.end, end, end + wanted)) continue;
      const index = Atomics.add(this.#words, words.count, 1);
      if (index >= maxRegions) throw outOfEngineMemory(wanted * unitBytes, undefined);
      const entry = words.entries + index * entrySize;
      Atomics.store(this.#words, entry + entryWords.start, end);
      Atomics.store(this.#words, entry + entryWords.owner, this.#owner);
      Atomics.store(this.#words, entry + entryWords.units, wanted); // last: one of no bytes is wanted by nobody
      return { entry, start: end * unitBytes, bytes: wanted * unitBytes };
    }
  }

  #ensureUnits(units: number): void {
    if (units > maxUnits) throw outOfEngineMemory(units * unitBytes, undefined);
    this.#ensureBytes(units * unitBytes);
  }

  #entries(): { readonly entry: number; readonly start: number; readonly units: number; readonly owner: number }[] {
    const count = Math.min(this.#load(words.count), maxRegions);
    return Array.from({ length: count }, (_, index) => {
      const entry = words.entries + index * entrySize;
      const units = this.#load(entry + entryWords.units); // first: it is written last
      return { entry, start: this.#load(entry + entryWords.start), units, owner: this.#load(entry + entryWords.owner) };
    });
  }

  #liveOwners(): ReadonlySet<number> {
    return new Set(Array.from(this.#replicaIds, (_, index) => Atomics.load(this.#replicaIds, index)));
  }

  #compareExchange(index: number, before: number, after: number): boolean {
    return Atomics.compareExchange(this.#words, index, before, after) === before;
  }

  #load(index: number): number {
    return Atomics.load(this.#words, index);
  }
}

function isFree(owner: number, living: ReadonlySet<number>): boolean {
  return owner === unowned || (owner !== sharedByAll && !living.has(owner));
}

export function outOfEngineMemory(bytes: number, cause: unknown): InferyardError {
  return new InferyardError(
    "OUT_OF_MEMORY",
    `the model needs ${bytes} bytes of WebAssembly memory, and the machine or its limit of 4 GiB refuses`,
    { remedy: "give smaller inputs, or a smaller model, or let fewer copies share the memory", cause },
  );
}

/** Where members are told of in memory of all threads, regions are as well. The first page stays free, so that no offset is 0. */
function newTable({ buffer }: ReplicaIds): ArrayBufferLike {
  const size = (words.entries + maxRegions * entrySize) * Int32Array.BYTES_PER_ELEMENT;
  const table = buffer instanceof ArrayBuffer ? new ArrayBuffer(size) : new SharedArrayBuffer(size);
  new Int32Array(table)[words.end] = 1;
  return table;
}
