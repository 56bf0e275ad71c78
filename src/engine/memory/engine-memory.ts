/**
 * The memory of one loaded model, or of several copies of it: weights, packed once and shared by all programs of all copies, and what each copy has
 * for itself: the arena its programs compute in, and blocks that outlive a run.
 */
import { elementCount, type TensorData } from "../../tensor.ts";
import { readPaddingBytes, type WasmMemory, wasmHost, wasmPageBytes } from "../codegen/wasm/index.ts";
import { elementTypes } from "../ir/element-types.ts";
import { identityOf, type Literal } from "../ir/literal.ts";
import type { PackedWeights } from "../lower/lowered-node.ts";
import { Blocks } from "./block-allocator.ts";
import { type Members, Regions, tooLarge } from "./region-table.ts";

const alignment = 64;
/** 4 GiB: shared memory states its end beforehand, and takes no more than it has grown to. */
const mostPages = 65_536;

/**
 * Regions for arenas are as large as a power of this. An arena leaves its region where it has to grow and another copy's memory lies behind: a copy
 * that comes later may want nearly as much, and finds it.
 */
const arenaGrowth = 1.5;

/** Where packed weights lie. */
export interface PackedPlace {
  readonly layout: string;
  readonly start: number;
  readonly bytes: number;
}

/** A memory that other copies compute in as well. Survives being posted to their threads. */
export interface SharedMemory {
  readonly memory: WasmMemory;
  readonly regions: ArrayBufferLike;
}

export interface MemorySettings {
  /** Whether several threads compute in it. */
  readonly shared: boolean;
  /** The copies there are, and which of them this one is. Default: it is alone. */
  readonly copies?: { readonly members: Members; readonly index: number };
  /** That of another copy. Default: a new one. */
  readonly from?: SharedMemory;
  /** Where the same weights were packed by another copy, if they were. */
  readonly packed?: (source: Literal, layout: string) => PackedPlace | undefined;
}

export class EngineMemory {
  readonly memory: WasmMemory;
  readonly #regions: Regions;
  /** Blocks that hold weights, which are never given back, and all others. */
  readonly #weights: Blocks;
  readonly #own: Blocks;
  readonly #places = new WeakMap<object, Map<string, PackedPlace>>();
  /** How many programs hold weights that are not the model's, by their places. */
  readonly #users = new Map<number, number>();
  readonly #packed: NonNullable<MemorySettings["packed"]>;
  readonly #isFirst: boolean;
  readonly #isAlone: boolean;
  #arena = { start: alignment, bytes: 0 };

  constructor({ shared, copies, from, packed = () => undefined }: MemorySettings) {
    const { Memory } = wasmHost();
    const limits = shared ? { initial: 1, maximum: mostPages, shared } : { initial: 1 };
    this.memory = from?.memory ?? new Memory(limits);
    const { members, index } = copies ?? { members: Int32Array.of(1), index: 0 };
    const owner = Atomics.load(members, index);
    this.#regions = new Regions({ buffer: from?.regions, members, owner }, (bytes) => this.#grow(bytes));
    this.#weights = new Blocks(this.#regions);
    this.#own = new Blocks(this.#regions);
    this.#packed = packed;
    this.#isFirst = index === 0;
    this.#isAlone = copies === undefined;
  }

  /** Where the arena starts. `reserve` may move it. */
  get arenaStart(): number {
    return this.#arena.start;
  }

  /** What this copy takes now. What all share, and what is free, counts for the first one. */
  get bytes(): number {
    const { all, own, others } = this.#regions.held;
    return this.#isFirst ? all - others : own;
  }

  /**
   * Where weights lie; they are packed when they are first asked for. `isDurable`: they are weights of the model, and stay. Others go when `drop`
   * says so.
   */
  place(weights: PackedWeights, isDurable: boolean): number {
    const { source, layout, bytes } = weights;
    const layouts = this.#places.get(identityOf(source)) ?? new Map<string, PackedPlace>();
    this.#places.set(identityOf(source), layouts);
    const known = layouts.get(layout);
    if (known !== undefined) return known.start;
    const place = this.#packedElsewhere(weights) ?? this.#newlyPacked(weights, isDurable);
    layouts.set(layout, place);
    const { unpack } = weights;
    const packed = (): Uint8Array => new Uint8Array(this.memory.buffer, place.start, bytes);
    if (unpack !== undefined) source.held?.letGo({ make: () => unpack(packed()) });
    return place.start;
  }

  /** Where these weights lie by now, in each layout they were asked for. */
  placesOf(source: Literal): readonly PackedPlace[] {
    return [...(this.#places.get(identityOf(source))?.values() ?? [])];
  }

  /** What other copies need. All weights that are packed by now may be read by them from now on, whatever becomes of this copy. */
  share(): SharedMemory {
    this.#weights.publish();
    return { memory: this.memory, regions: this.#regions.buffer };
  }

  /** Gives everything back that is this copy's alone. It computes no more. */
  leave(): void {
    this.#regions.leave();
  }

  /** Where a block of so many bytes starts, all zeros; it stays there until it is released. */
  allocate(bytes: number): number {
    const size = spaceOf(bytes);
    const start = this.#own.take(size);
    new Uint8Array(this.memory.buffer, start, size).fill(0);
    return start;
  }

  /** Lets a block be used again for others; the memory does not shrink. */
  release(start: number, bytes: number): void {
    this.#own.give(start, spaceOf(bytes));
  }

  #packedElsewhere({ source, layout, bytes }: PackedWeights): PackedPlace | undefined {
    const place = this.#packed(source, layout);
    if (place?.bytes !== bytes) return undefined;
    this.#grow(place.start + spaceOf(bytes)); // another thread has: here it may not show yet
    return place;
  }

  #newlyPacked(weights: PackedWeights, isDurable: boolean): PackedPlace {
    const { layout, bytes } = weights;
    const blocks = isDurable ? this.#weights : this.#own;
    const start = blocks.take(spaceOf(bytes));
    try {
      this.#pack(weights, start);
    } catch (error) {
      blocks.give(start, spaceOf(bytes));
      throw error;
    }
    return { layout, start, bytes };
  }

  /** What lies in a file is read into this memory and not into an array, which nobody would need for long. */
  #pack({ source, bytes, pack }: PackedWeights, start: number): void {
    const { dataType, shape, held } = source;
    const View = elementTypes[dataType].array as Float64ArrayConstructor;
    const size = elementCount(shape) * View.BYTES_PER_ELEMENT;
    const target = (): Uint8Array => new Uint8Array(this.memory.buffer, start, bytes);
    if (pack === undefined) {
      if (held?.canWrite === true) held.write(target());
      else target().set(bytesOf(source.data));
      return;
    }
    if (held?.canWrite !== true) {
      pack(target(), source.data);
      return;
    }
    const scratch = this.#own.take(spaceOf(size));
    try {
      held.write(new Uint8Array(this.memory.buffer, scratch, size));
      pack(target(), new View(this.memory.buffer as ArrayBuffer, scratch, elementCount(shape)));
    } finally {
      this.#own.give(scratch, spaceOf(size));
    }
  }

  /** Weights that may go once all who hold them have dropped them. */
  hold(weights: PackedWeights): void {
    const start = this.place(weights, false);
    this.#users.set(start, (this.#users.get(start) ?? 0) + 1);
  }

  drop(weights: PackedWeights): void {
    const layouts = this.#places.get(identityOf(weights.source));
    const start = layouts?.get(weights.layout)?.start;
    const users = start === undefined ? 0 : (this.#users.get(start) ?? 0);
    if (start === undefined || users === 0) return;
    this.#users.set(start, users - 1);
    if (users > 1) return;
    this.#users.delete(start);
    layouts?.delete(weights.layout);
    this.release(start, weights.bytes);
  }

  /** Makes room for an arena of so many bytes. What lay in a smaller one is lost. */
  reserve(arenaBytes: number): void {
    const wanted = spaceOf(arenaBytes);
    const { start, bytes } = this.#arena;
    if (wanted <= bytes) return;
    this.#arena = { start: alignment, bytes: 0 };
    if (bytes > 0) this.#own.give(start, bytes);
    const atOnce = this.#isAlone ? wanted : arenaGrowth ** Math.ceil(Math.log(wanted) / Math.log(arenaGrowth));
    this.#arena = { start: this.#own.take(wanted, atOnce), bytes: wanted };
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
      if (this.memory.buffer.byteLength < bytes) throw tooLarge(bytes, error);
    }
  }
}

/** With what kernels may read beyond the end. */
function spaceOf(bytes: number): number {
  return Math.ceil((bytes + readPaddingBytes) / alignment) * alignment;
}

function bytesOf(data: TensorData): Uint8Array {
  const { buffer, byteOffset, byteLength } = data as Uint8Array;
  return new Uint8Array(buffer, byteOffset, byteLength);
}
