/**
 * The memory of one loaded model: weights, packed once and shared by all its programs, among them blocks that outlive a run, and behind them the
 * arena the programs compute in.
 */
import { InferyardError } from "../../errors.ts";
import { elementCount, type TensorData } from "../../tensor.ts";
import { readPaddingBytes, type WasmMemory, wasmHost, wasmPageBytes } from "../emit/wasm/index.ts";
import { elementTypes } from "../graph/element-types.ts";
import { identityOf } from "../graph/literal.ts";
import type { PackedWeights } from "../plan/planned-call.ts";
import { FreeBlocks } from "./free-blocks.ts";

const alignment = 64;
/** 4 GiB: shared memory states its end beforehand, and takes no more than it has grown to. */
const mostPages = 65_536;

export class EngineMemory {
  readonly memory: WasmMemory;
  readonly #places = new WeakMap<object, Map<string, number>>();
  /** How many programs hold weights that are not the model's, by their places. */
  readonly #users = new Map<number, number>();
  /** Places that were given back, among the others. */
  readonly #free = new FreeBlocks();
  /** The first bytes stay free, so that no offset is 0. */
  #weightsEnd = alignment;
  #arenaBytes = 0;

  /** Shared where several threads compute. */
  constructor(shared: boolean) {
    const { Memory } = wasmHost();
    this.memory = shared ? new Memory({ initial: 1, maximum: mostPages, shared }) : new Memory({ initial: 1 });
  }

  /** Bytes from the memory's start to the arena. */
  get arenaStart(): number {
    return this.#weightsEnd;
  }

  /** What the model takes now. */
  get bytes(): number {
    return this.memory.buffer.byteLength;
  }

  /** Where weights lie; they are packed when they are first asked for. Moves the arena. */
  place(weights: PackedWeights): number {
    const { source, layout, bytes } = weights;
    const layouts = this.#places.get(identityOf(source)) ?? new Map<string, number>();
    this.#places.set(identityOf(source), layouts);
    const known = layouts.get(layout);
    if (known !== undefined) return known;
    const start = this.#take(spaceOf(weights.bytes));
    this.#pack(weights, start);
    layouts.set(layout, start);
    const { unpack } = weights;
    const packed = (): Uint8Array => new Uint8Array(this.memory.buffer, start, bytes);
    if (unpack !== undefined) source.held?.letGo({ make: () => unpack(packed()) });
    return start;
  }

  /** Where a block of so many bytes starts, all zeros; it stays there until it is released. Moves the arena. */
  allocate(bytes: number): number {
    const size = spaceOf(bytes);
    const start = this.#take(size);
    new Uint8Array(this.memory.buffer, start, size).fill(0);
    return start;
  }

  /** Lets a block be used again for others; the memory does not shrink. */
  release(start: number, bytes: number): void {
    this.#free.give(start, spaceOf(bytes));
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
    const scratch = this.#weightsEnd; // where the arena will be
    this.#grow(scratch + size);
    held.write(new Uint8Array(this.memory.buffer, scratch, size));
    pack(target(), new View(this.memory.buffer as ArrayBuffer, scratch, elementCount(shape)));
  }

  /** Weights that may go once all who hold them have dropped them. */
  hold(weights: PackedWeights): void {
    const start = this.place(weights);
    this.#users.set(start, (this.#users.get(start) ?? 0) + 1);
  }

  drop(weights: PackedWeights): void {
    const layouts = this.#places.get(identityOf(weights.source));
    const start = layouts?.get(weights.layout);
    const users = start === undefined ? 0 : (this.#users.get(start) ?? 0);
    if (start === undefined || users === 0) return;
    this.#users.set(start, users - 1);
    if (users > 1) return;
    this.#users.delete(start);
    layouts?.delete(weights.layout);
    this.release(start, weights.bytes);
  }

  /** Makes room for an arena of so many bytes. */
  reserve(arenaBytes: number): void {
    this.#arenaBytes = Math.max(this.#arenaBytes, arenaBytes);
    this.#grow(this.#weightsEnd + arenaBytes + readPaddingBytes);
  }

  /** A free place that is large enough, or a new one behind all others. */
  #take(bytes: number): number {
    const free = this.#free.take(bytes);
    if (free !== undefined) return free;
    const start = this.#weightsEnd;
    this.#grow(start + bytes);
    this.#weightsEnd = start + bytes;
    return start;
  }

  #grow(bytes: number): void {
    const missing = bytes - this.memory.buffer.byteLength;
    if (missing <= 0) return;
    try {
      this.memory.grow(Math.ceil(missing / wasmPageBytes));
    } catch (error) {
      throw new InferyardError(
        "OUT_OF_MEMORY",
        `the model needs ${bytes} bytes of WebAssembly memory, and the machine or its limit of 4 GiB refuses`,
        {
          remedy: "give smaller inputs, or a smaller model",
          cause: error,
        },
      );
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
