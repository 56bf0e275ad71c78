/**
 * The memory of one loaded model, or of several copies of it: weights, packed once and shared by all programs of all copies, and what each copy has
 * for itself: the arena its programs compute in, and blocks that outlive a run.
 */
import { elementCount, type TensorData } from "../../tensor.ts";
import { readPaddingBytes, type WasmMemory, wasmHost, wasmPageBytes } from "../codegen/wasm/index.ts";
import { elementTypes } from "../ir/element-types.ts";
import { storageIdentity, type Literal } from "../ir/literal.ts";
import type { PackedWeights } from "../lower/lowered-node.ts";
import { BlockAllocator } from "./block-allocator.ts";
import { type ReplicaIds, RegionTable, outOfEngineMemory } from "./region-table.ts";

const alignment = 64;
/** 4 GiB: shared memory states its end beforehand, and takes no more than it has grown to. */
const maxPages = 65_536;

/**
 * Regions for arenas are as large as a power of this. An arena leaves its region where it has to grow and another copy's memory lies behind: a copy
 * that comes later may want nearly as much, and finds it.
 */
const arenaGrowth = 1.5;

/** Where packed weights lie. */
export interface PackedLocation {
  readonly layout: string;
  readonly start: number;
  readonly bytes: number;
}

/** A memory that other copies compute in as well. Survives being posted to their threads. */
export interface SharedMemoryHandle {
  readonly memory: WasmMemory;
  readonly regions: ArrayBufferLike;
}

export interface MemorySettings {
  /** Whether several threads compute in it. */
  readonly shared: boolean;
  /** The copies there are, and which of them this one is. Default: it is alone. */
  readonly replica?: { readonly replicaIds: ReplicaIds; readonly index: number };
  /** That of another copy. Default: a new one. */
  readonly from?: SharedMemoryHandle;
  /** Where the same weights were packed by another copy, if they were. */
  readonly findPacked?: (source: Literal, layout: string) => PackedLocation | undefined;
}

export class EngineMemory {
  readonly memory: WasmMemory;
  readonly #regions: RegionTable;
  /** Blocks that hold weights, which are never given back, and all others. */
  readonly #weights: BlockAllocator;
  readonly #blocks: BlockAllocator;
  readonly #locations = new WeakMap<object, Map<string, PackedLocation>>();
  /** How many programs hold weights that are not the model's, by their places. */
  readonly #useCounts = new Map<number, number>();
  readonly #findPacked: NonNullable<MemorySettings["findPacked"]>;
  readonly #isFirst: boolean;
  readonly #isAlone: boolean;
  #arena = { start: alignment, bytes: 0 };

  constructor({ shared, replica, from, findPacked = () => undefined }: MemorySettings) {
    const { Memory } = wasmHost();
    const limits = shared ? { initial: 1, maximum: maxPages, shared } : { initial: 1 };
    this.memory = from?.memory ?? new Memory(limits);
    const { replicaIds, index } = replica ?? { replicaIds: Int32Array.of(1), index: 0 };
    const owner = Atomics.load(replicaIds, index);
    this.#regions = new RegionTable({ buffer: from?.regions, members: replicaIds, owner }, (bytes) => this.#grow(bytes));
    this.#weights = new BlockAllocator(this.#regions);
    this.#blocks = new BlockAllocator(this.#regions);
    this.#findPacked = findPacked;
    this.#isFirst = index === 0;
    this.#isAlone = replica === undefined;
  }

  /** Where the arena starts. `reserve` may move it. */
  get arenaStart(): number {
    return this.#arena.start;
  }

  /** What this copy takes now. What all share, and what is free, counts for the first one. */
  get bytes(): number {
    const { all, own, others } = this.#regions.usage;
    return this.#isFirst ? all - others : own;
  }

  /**
   * Where weights lie; they are packed when they are first asked for. `isDurable`: they are weights of the model, and stay. Others go when `drop`
   * says so.
   */
  pack(weights: PackedWeights, isDurable: boolean): number {
    const { source, layout, bytes } = weights;
    const layouts = this.#locations.get(storageIdentity(source)) ?? new Map<string, PackedLocation>();
    this.#locations.set(storageIdentity(source), layouts);
    const known = layouts.get(layout);
    if (known !== undefined) return known.start;
    const place = this.#packedByReplica(weights) ?? this.#packNew(weights, isDurable);
    layouts.set(layout, place);
    const { unpack } = weights;
    const packed = (): Uint8Array => new Uint8Array(this.memory.buffer, place.start, bytes);
    if (unpack !== undefined) source.storage?.release({ materialize: () => unpack(packed()) });
    return place.start;
  }

  /** Where these weights lie by now, in each layout they were asked for. */
  packedLocations(source: Literal): readonly PackedLocation[] {
    return [...(this.#locations.get(storageIdentity(source))?.values() ?? [])];
  }

  /** What other copies need. All weights that are packed by now may be read by them from now on, whatever becomes of this copy. */
  share(): SharedMemoryHandle {
    this.#weights.publish();
    return { memory: this.memory, regions: this.#regions.buffer };
  }

  /** Gives everything back that is this copy's alone. It computes no more. */
  close(): void {
    this.#regions.releaseAll();
  }

  /** Where a block of so many bytes starts, all zeros; it stays there until it is released. */
  allocate(bytes: number): number {
    const size = paddedSize(bytes);
    const start = this.#blocks.allocate(size);
    new Uint8Array(this.memory.buffer, start, size).fill(0);
    return start;
  }

  /** Lets a block be used again for others; the memory does not shrink. */
  release(start: number, bytes: number): void {
    this.#blocks.free(start, paddedSize(bytes));
  }

  #packedByReplica({ source, layout, bytes }: PackedWeights): PackedLocation | undefined {
    const place = this.#findPacked(source, layout);
    if (place?.bytes !== bytes) return undefined;
    this.#grow(place.start + paddedSize(bytes)); // another thread has: here it may not show yet
    return place;
  }

  #packNew(weights: PackedWeights, isDurable: boolean): PackedLocation {
    const { layout, bytes } = weights;
    const blocks = isDurable ? this.#weights : this.#blocks;
    const start = blocks.allocate(paddedSize(bytes));
    try {
      this.#writePacked(weights, start);
    } catch (error) {
      blocks.free(start, paddedSize(bytes));
      throw error;
    }
    return { layout, start, bytes };
  }

  /** What lies in a file is read into this memory and not into an array, which nobody would need for long. */
  #writePacked({ source, bytes, pack }: PackedWeights, start: number): void {
    const { dataType, shape, storage } = source;
    const View = elementTypes[dataType].array as Float64ArrayConstructor;
    const size = elementCount(shape) * View.BYTES_PER_ELEMENT;
    const target = (): Uint8Array => new Uint8Array(this.memory.buffer, start, bytes);
    if (pack === undefined) {
      if (storage?.canCopy === true) storage.copyTo(target());
      else target().set(bytesOf(source.data));
      return;
    }
    if (storage?.canCopy !== true) {
      pack(target(), source.data);
      return;
    }
    const scratch = this.#blocks.allocate(paddedSize(size));
    try {
      storage.copyTo(new Uint8Array(this.memory.buffer, scratch, size));
      pack(target(), new View(this.memory.buffer as ArrayBuffer, scratch, elementCount(shape)));
    } finally {
      this.#blocks.free(scratch, paddedSize(size));
    }
  }

  /** Weights that may go once all who hold them have dropped them. */
  retainWeights(weights: PackedWeights): void {
    const start = this.pack(weights, false);
    this.#useCounts.set(start, (this.#useCounts.get(start) ?? 0) + 1);
  }

  releaseWeights(weights: PackedWeights): void {
    const layouts = this.#locations.get(storageIdentity(weights.source));
    const start = layouts?.get(weights.layout)?.start;
    const users = start === undefined ? 0 : (this.#useCounts.get(start) ?? 0);
    if (start === undefined || users === 0) return;
    this.#useCounts.set(start, users - 1);
    if (users > 1) return;
    this.#useCounts.delete(start);
    layouts?.delete(weights.layout);
    this.release(start, weights.bytes);
  }

  /** Makes room for an arena of so many bytes. What lay in a smaller one is lost. */
  reserveArena(arenaBytes: number): void {
    const wanted = paddedSize(arenaBytes);
    const { start, bytes } = this.#arena;
    if (wanted <= bytes) return;
    this.#arena = { start: alignment, bytes: 0 };
    if (bytes > 0) this.#blocks.free(start, bytes);
    const atOnce = this.#isAlone ? wanted : arenaGrowth ** Math.ceil(Math.log(wanted) / Math.log(arenaGrowth));
    this.#arena = { start: this.#blocks.allocate(wanted, atOnce), bytes: wanted };
  }

  /** The memory is at least so long, and shows it here. Two threads that grow it at once may make it longer than they want. */
  #grow(bytes: number): void {
    if (this.memory.buffer.byteLength >= bytes) return;
    this.memory.grow(0);
    const missing = bytes - this.memory.buffer.byteLength;
    if (missing <= 0) return;
    try {
      this.memory.grow(Math.ceil(missing / wasmPageBytes));
    } catch (error) {
      this.memory.grow(0);
      if (this.memory.buffer.byteLength < bytes) throw outOfEngineMemory(bytes, error);
    }
  }
}

/** With what kernels may read beyond the end. */
function paddedSize(bytes: number): number {
  return Math.ceil((bytes + readPaddingBytes) / alignment) * alignment;
}

function bytesOf(data: TensorData): Uint8Array {
  const { buffer, byteOffset, byteLength } = data as Uint8Array;
  return new Uint8Array(buffer, byteOffset, byteLength);
}
