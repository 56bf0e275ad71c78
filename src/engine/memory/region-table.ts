/**
 * A lock-free table of who owns which region of a memory that replicas of a model share. The table is shared memory itself and is changed by atomic
 * compare-and-exchange only, so no thread ever waits, and a thread that dies at any point leaves nothing locked; at worst some bytes stay unused until
 * all replicas are gone. Regions are whole pages and never move. Each replica allocates blocks within its own regions (see `BlockAllocator`). The
 * regions of a replica that has ended can be claimed by any other.
 */
import { InferyardError } from "../../contract/errors.ts";

/** One 32-bit word per replica slot: the id of the replica whose thread is alive, or 0 when the slot is free. Ids start at 1 and are never reused. */
export type ReplicaIds = Int32Array;

/** A range of bytes of the shared memory that one replica owns. */
export interface Region {
  /** Index in the table of the region's entry, in 32-bit words. */
  readonly entry: number;
  /** Byte offset of the region in the memory. */
  readonly start: number;
  /** Size in bytes. */
  readonly bytes: number;
}

/** Bytes of a unit. The table counts units, so that 32 bits suffice for offsets in 4 GiB. */

const unitBytes = 64;
/** 4 GiB in units. */
const maxUnits = 2 ** 26;
const maxRegions = 2048;
/** Units per page of 64 KiB: regions are whole pages, so that few are needed. */
const pageUnits = 1024;
const words = { end: 0, count: 1, entries: 2 } as const;
const entryWords = { start: 0, units: 1, owner: 2 } as const;
const entrySize = 3;
const unowned = 0;
/** Owner of regions that all replicas read. They are never freed. */
const sharedByAll = -1;

/** One replica's view of the table of regions, which is in the shared memory and records which replica owns which bytes. */
export class RegionTable {
  readonly #words: Int32Array;
  readonly #replicaIds: ReplicaIds;
  readonly #owner: number;
  readonly #ensureBytes: (bytes: number) => void;

  /**
   * `buffer` is the table of another replica; undefined creates a new table. `members` are the ids of all replicas. `owner` is the id of this replica and
   * must be in `members`. `ensureBytes` grows the memory to at least the given number of bytes, or throws.
   */
  constructor(
    options: { readonly buffer: ArrayBufferLike | undefined; readonly members: ReplicaIds; readonly owner: number },
    ensureBytes: (bytes: number) => void,
  ) {
    this.#words = new Int32Array(options.buffer ?? newTable(options.members));
    this.#replicaIds = options.members;
    this.#owner = options.owner;
    this.#ensureBytes = ensureBytes;
  }

  /** The buffer that holds the table. Other replicas pass it to the constructor. */
  get buffer(): ArrayBufferLike {
    return this.#words.buffer;
  }

  /**
   * Claims a region of at least `bytes` bytes with undefined content for this replica. Reuses the smallest sufficient region without a live owner, or
   * extends the last region if it has none; otherwise appends a new region at the end of the memory. Throws OUT_OF_MEMORY if the memory cannot grow.
   */
  claim(bytes: number): Region {
    const wanted = Math.ceil(bytes / unitBytes / pageUnits) * pageUnits;
    for (;;) {
      const living = this.#liveOwners();
      const end = this.#load(words.end);
      const best = this.#entries()
        .filter(({ start, units, owner }) => isFree(owner, living) && (units >= wanted || (units > 0 && start + units === end)))
        .toSorted((one, other) => Number(one.units < wanted) - Number(other.units < wanted) || one.units - other.units)[0];
      if (best === undefined) return this.#append(wanted);
      if (!this.#compareExchange(best.entry + entryWords.owner, best.owner, this.#owner)) continue; // another thread claimed it first
      const units = this.#load(best.entry + entryWords.units);
      const region = { entry: best.entry, start: best.start * unitBytes, bytes: units * unitBytes };
      try {
        const long = units >= wanted ? region : this.extend(region, (wanted - units) * unitBytes);
        if (long !== undefined) {
          this.#ensureBytes(long.start + long.bytes); // makes growth by other threads visible here
          return long;
        }
      } catch (error) {
        this.#compareExchange(best.entry + entryWords.owner, this.#owner, unowned);
        throw error;
      }
      this.#compareExchange(best.entry + entryWords.owner, this.#owner, unowned); // no longer the last region: it cannot be extended
    }
  }

  /** Extends a region of this replica by at least `bytes` bytes and returns it. Returns undefined if another region follows. Throws OUT_OF_MEMORY. */
  extend(region: Region, bytes: number): Region | undefined {
    const [first, units] = [region.start / unitBytes, region.bytes / unitBytes];
    const wanted = units + Math.ceil(bytes / unitBytes / pageUnits) * pageUnits;
    if (this.#load(words.end) !== first + units) return undefined;
    this.#ensureUnits(first + wanted);
    if (!this.#compareExchange(words.end, first + units, first + wanted)) return undefined;
    Atomics.store(this.#words, region.entry + entryWords.units, wanted);
    return { ...region, bytes: wanted * unitBytes };
  }

  /** Makes a region readable by all replicas, permanently. No replica may write to it afterwards. */
  publish({ entry }: Region): void {
    Atomics.store(this.#words, entry + entryWords.owner, sharedByAll);
  }

  /** Releases all regions of this replica. Other replicas may claim them. */
  releaseAll(): void {
    for (const { entry } of this.#entries()) this.#compareExchange(entry + entryWords.owner, this.#owner, unowned);
  }

  /** Bytes of all regions (`all`), of the regions of this replica (`own`), and of the regions of other live replicas (`others`). The rest is shared or free. */
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
      Atomics.store(this.#words, entry + entryWords.units, wanted); // written last: entries with 0 units are ignored by others
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
      const units = this.#load(entry + entryWords.units); // read first, since it is written last
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

/** Creates the OUT_OF_MEMORY error for engine memory that cannot grow to `bytes` bytes. `cause` is the error of WebAssembly.Memory.grow. */
export function outOfEngineMemory(bytes: number, cause: unknown): InferyardError {
  return new InferyardError(
    "OUT_OF_MEMORY",
    `the model needs ${bytes} bytes of WebAssembly memory, which exceeds what the machine allocates or the limit of 4 GiB`,
    { remedy: "give smaller inputs, use a smaller model, or let fewer replicas share the memory", cause },
  );
}

/** A new table, in shared memory when the ids are. The first page of the memory stays unused, so that no offset is 0. */
function newTable({ buffer }: ReplicaIds): ArrayBufferLike {
  const size = (words.entries + maxRegions * entrySize) * Int32Array.BYTES_PER_ELEMENT;
  const table = buffer instanceof ArrayBuffer ? new ArrayBuffer(size) : new SharedArrayBuffer(size);
  new Int32Array(table)[words.end] = 1;
  return table;
}
