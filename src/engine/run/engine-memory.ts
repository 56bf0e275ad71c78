/**
 * The memory of one loaded model: weights, packed once and shared by all its programs, among them blocks that outlive a run, and behind them the
 * arena the programs compute in.
 */
import { InferyardError } from "../../errors.ts";
import { readPaddingBytes, type WasmMemory, wasmHost, wasmPageBytes } from "../emit/wasm/index.ts";
import type { PackedWeights } from "../plan/planned-call.ts";
import { FreeBlocks } from "./free-blocks.ts";

const alignment = 64;
/** 4 GiB: shared memory states its end beforehand, and takes no more than it has grown to. */
const mostPages = 65_536;

export class EngineMemory {
  readonly memory: WasmMemory;
  readonly #places = new WeakMap<object, Map<string, number>>();
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
    const layouts = this.#places.get(source.data) ?? new Map<string, number>();
    this.#places.set(source.data, layouts);
    const known = layouts.get(layout);
    if (known !== undefined) return known;
    const start = this.#weightsEnd;
    this.#grow(start + bytes + readPaddingBytes);
    weights.pack(new Uint8Array(this.memory.buffer, start, bytes));
    layouts.set(layout, start);
    this.#weightsEnd = Math.ceil((start + bytes + readPaddingBytes) / alignment) * alignment;
    return start;
  }

  /** Where a block of so many bytes starts, all zeros; it stays there until it is released. Moves the arena. */
  allocate(bytes: number): number {
    const size = Math.ceil((bytes + readPaddingBytes) / alignment) * alignment;
    const start = this.#free.take(size) ?? this.#weightsEnd;
    if (start === this.#weightsEnd) {
      this.#grow(start + size);
      this.#weightsEnd += size;
    }
    new Uint8Array(this.memory.buffer, start, size).fill(0);
    return start;
  }

  /** Lets a block be used again for others; the memory does not shrink. */
  release(start: number, bytes: number): void {
    this.#free.give(start, Math.ceil((bytes + readPaddingBytes) / alignment) * alignment);
  }

  /** Makes room for an arena of so many bytes. */
  reserve(arenaBytes: number): void {
    this.#arenaBytes = Math.max(this.#arenaBytes, arenaBytes);
    this.#grow(this.#weightsEnd + arenaBytes + readPaddingBytes);
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
