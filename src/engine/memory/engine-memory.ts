/**
 * The WebAssembly memory of one loaded model, or of several replicas of it. It holds packed weights, shared by all executables of all replicas, and
 * for each replica the arena its executables compute in and blocks that outlive a run.
 */
import { InferyardError } from "../../contract/errors.ts";
import { elementCount, type TensorData } from "../../contract/tensor.ts";
import { type WasmMemory, wasmHost, wasmPageBytes } from "../codegen/wasm/assembler/webassembly.ts";
import { readPaddingBytes } from "../codegen/wasm/kernel.ts";
import { elementTypes } from "../ir/element-types.ts";
import { storageIdentity, type Literal } from "../ir/literal.ts";
import type { PackedWeights } from "../lower/lowered-node.ts";
import { bufferAlignment } from "../plan/arena-layout.ts";
import { BlockAllocator } from "./block-allocator.ts";
import { type DiscardPages, IdlePages } from "./idle-pages.ts";
import { type ReplicaIds, RegionTable, outOfEngineMemory } from "./region-table.ts";

/** Pages of 64 KiB in 4 GiB. A shared WebAssembly memory must declare a maximum size; pages are allocated only when the memory grows. */
const maxPages = 65_536;

/**
 * Arena regions of replicas have sizes that are powers of this factor. An arena that must grow while another replica's region follows it leaves its region
 * behind; equal size classes let the next replica reuse that region.
 */
const arenaGrowth = 1.5;

/** Where packed weights are stored in engine memory. */
export interface PackedLocation {
  /** Name of the layout that the weights are packed in. */
  readonly layout: string;
  /** Offset in bytes from the start of the memory. */
  readonly start: number;
  /** Size in bytes. */
  readonly bytes: number;
}

/** A memory that several replicas compute in, with its region table. Can be posted to other threads. */
export interface SharedMemoryHandle {
  /** The shared WebAssembly memory. */
  readonly memory: WasmMemory;
  /** The shared buffer of the region table. */
  readonly regions: ArrayBufferLike;
}

/** Settings of an engine memory. */
export interface MemorySettings {
  /** Whether several threads access the memory. If true, the buffer of the memory is a SharedArrayBuffer. */
  readonly shared: boolean;
  /** The ids of all replicas, and the slot of this one. Default: there are no replicas. */
  readonly replica?: { readonly replicaIds: ReplicaIds; readonly index: number };
  /** The memory of another replica, to be used by this one too. Default: a new memory. */
  readonly from?: SharedMemoryHandle;
  /** Loads the function that returns free pages to the operating system. Default: free pages stay allocated to the process. */
  readonly openDiscard?: (() => Promise<DiscardPages | undefined>) | undefined;
  /** Looks up weights that another replica has packed. Default: there are none. */
  readonly findPacked?: (source: Literal, layout: string) => PackedLocation | undefined;
}

/** One replica's view of the memory: weights, arena and blocks. Offsets are bytes from the start of the memory. */
export class EngineMemory {
  /** The WebAssembly memory that kernels are instantiated with. */
  readonly memory: WasmMemory;
  readonly #regions: RegionTable;
  /** Weights of the model are never freed, so they have an allocator of their own; `#blocks` serves everything else. */
  readonly #weights: BlockAllocator;
  readonly #blocks: BlockAllocator;
  readonly #locations = new WeakMap<object, Map<string, PackedLocation>>();
  /** Reference counts of packed weights that do not belong to the model, by byte offset. */
  readonly #useCounts = new Map<number, number>();
  readonly #findPacked: NonNullable<MemorySettings["findPacked"]>;
  readonly #isFirst: boolean;
  readonly #isAlone: boolean;
  readonly #idlePages: IdlePages | undefined;
  #arena = { start: bufferAlignment, bytes: 0 };

  constructor({ shared, replica, from, openDiscard, findPacked = () => undefined }: MemorySettings) {
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
    const views = { buffer: () => this.memory.buffer, freeBlocks: () => this.#blocks.freeBlocks };
    this.#idlePages = openDiscard && new IdlePages(openDiscard, views);
  }

  /** Offset of the arena. `reserveArena` may move it. */
  get arenaStart(): number {
    return this.#arena.start;
  }

  /** Bytes that this replica owns. Shared weights and free memory are attributed to the first replica. */
  get bytes(): number {
    const { all, own, others } = this.#regions.usage;
    return this.#isFirst ? all - others : own;
  }

  /**
   * Returns the byte offset of packed weights, and packs them at the first call. If `isModelConstant`, the weights belong to the model and are never
   * freed; otherwise `releaseWeights` frees them. Throws OUT_OF_MEMORY if the memory cannot grow.
   */
  pack(weights: PackedWeights, isModelConstant: boolean): number {
    const { source, layout, bytes } = weights;
    const layouts = this.#locations.get(storageIdentity(source)) ?? new Map<string, PackedLocation>();
    this.#locations.set(storageIdentity(source), layouts);
    const known = layouts.get(layout);
    if (known !== undefined) return known.start;
    const location = this.#packedByReplica(weights) ?? this.#packNew(weights, isModelConstant);
    layouts.set(layout, location);
    const { unpack } = weights;
    const packed = (): Uint8Array => new Uint8Array(this.memory.buffer, location.start, bytes);
    if (unpack !== undefined) source.storage?.release({ materialize: () => unpack(packed()) });
    return location.start;
  }

  /** Grows the memory at once to what packing these weights takes: growing costs a garbage collection. Where it cannot grow, `pack` throws. */
  reserve(weights: readonly PackedWeights[]): void {
    const missing = weights.filter(({ source, layout }) => this.#locations.get(storageIdentity(source))?.has(layout) !== true);
    const bytes = missing.reduce((sum, each) => sum + paddedSize(each.bytes), 0);
    try {
      this.#grow(this.#regions.usage.all + bytes);
    } catch (error) {
      if (!(error instanceof InferyardError)) throw error;
    }
  }

  /** The locations of weights that have been packed: one per layout that was requested. */
  packedLocations(source: Literal): readonly PackedLocation[] {
    return [...(this.#locations.get(storageIdentity(source))?.values() ?? [])];
  }

  /** The packed data at a location, without a copy: valid until the memory grows. */
  viewPacked({ start, bytes }: PackedLocation): Uint8Array {
    return new Uint8Array(this.memory.buffer, start, bytes);
  }

  /** Returns the handle with which other replicas use this memory. They may read all weights packed until now, even after this replica is closed. */
  share(): SharedMemoryHandle {
    this.#weights.publish();
    return { memory: this.memory, regions: this.#regions.buffer };
  }

  /** Releases all regions that only this replica owns. The replica must not use the memory afterwards. */
  close(): void {
    this.#idlePages?.close();
    this.#regions.releaseAll();
  }

  /** Allocates a zero-filled block of `bytes` bytes and returns its byte offset. Throws OUT_OF_MEMORY if the memory cannot grow. */
  allocate(bytes: number): number {
    const size = paddedSize(bytes);
    const start = this.#blocks.allocate(size);
    new Uint8Array(this.memory.buffer, start, size).fill(0);
    return start;
  }

  /**
   * Frees a block. `bytes` must be the size passed to `allocate`. The memory does not shrink. Free pages are returned to the operating system later,
   * on platforms that support it.
   */
  release(start: number, bytes: number): void {
    this.#blocks.free(start, paddedSize(bytes));
    this.#idlePages?.freed(bytes);
  }

  #packedByReplica({ source, layout, bytes }: PackedWeights): PackedLocation | undefined {
    const location = this.#findPacked(source, layout);
    if (location?.bytes !== bytes) return undefined;
    this.#grow(location.start + paddedSize(bytes)); // another thread may have grown the memory: make that visible here
    return location;
  }

  #packNew(weights: PackedWeights, isModelConstant: boolean): PackedLocation {
    const { layout, bytes } = weights;
    const blocks = isModelConstant ? this.#weights : this.#blocks;
    const start = blocks.allocate(paddedSize(bytes));
    try {
      this.#writePacked(weights, start);
    } catch (error) {
      blocks.free(start, paddedSize(bytes));
      throw error;
    }
    return { layout, start, bytes };
  }

  /** Writes weights in their packed layout to offset `start`. Weights stored in a file are read directly into this memory, without an intermediate array. */
  #writePacked({ source, bytes, pack, packStored }: PackedWeights, start: number): void {
    const { dataType, shape, storage } = source;
    const View = elementTypes[dataType].array as Float64ArrayConstructor;
    const size = elementCount(shape) * View.BYTES_PER_ELEMENT;
    const target = (): Uint8Array => new Uint8Array(this.memory.buffer, start, bytes);
    if (packStored !== undefined) {
      packStored(target());
      return;
    }
    if (pack === undefined) {
      if (storage?.canCopy === true) storage.copyTo(target());
      else target().set(getBytes(source.data));
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

  /** Increments the reference count of weights that do not belong to the model, and packs them if the count was 0. */
  retainWeights(weights: PackedWeights): void {
    const start = this.pack(weights, false);
    this.#useCounts.set(start, (this.#useCounts.get(start) ?? 0) + 1);
  }

  /** Decrements the reference count of weights passed to `retainWeights`, and frees the packed data when it reaches 0. */
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

  /** Enlarges the arena to at least `arenaBytes` bytes. The arena may move; its content is then lost. Throws OUT_OF_MEMORY if the memory cannot grow. */
  reserveArena(arenaBytes: number): void {
    const wanted = paddedSize(arenaBytes);
    const { start, bytes } = this.#arena;
    if (wanted <= bytes) return;
    this.#arena = { start: bufferAlignment, bytes: 0 };
    if (bytes > 0) {
      this.#blocks.free(start, bytes);
      this.#idlePages?.freed(bytes);
    }
    const atOnce = this.#isAlone ? wanted : arenaGrowth ** Math.ceil(Math.log(wanted) / Math.log(arenaGrowth));
    this.#arena = { start: this.#blocks.allocate(wanted, atOnce), bytes: wanted };
  }

  /**
   * Grows the memory to at least `bytes` bytes and refreshes this thread's view of it. Two threads that grow it concurrently may grow it further than
   * needed.
   */
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

/** `bytes` plus the padding that kernels may read past the end of a buffer, rounded up to the alignment of blocks. */
function paddedSize(bytes: number): number {
  return Math.ceil((bytes + readPaddingBytes) / bufferAlignment) * bufferAlignment;
}

function getBytes(data: TensorData): Uint8Array {
  const { buffer, byteOffset, byteLength } = data as Uint8Array;
  return new Uint8Array(buffer, byteOffset, byteLength);
}
