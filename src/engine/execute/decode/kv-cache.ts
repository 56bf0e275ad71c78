/** The keys and values of a decoder, in one block of engine memory. */
import { at } from "../../../contract/checked.ts";
import { elementCount } from "../../../contract/tensor.ts";
import { storageBytes } from "../../lower/movement.ts";
import { layOutStates } from "../../plan/state-layout.ts";
import type { EngineMemory } from "../../memory/engine-memory.ts";
import type { DecoderCache } from "./decoder-engine.ts";
import { type PastInput, pastType } from "./decoder-inputs.ts";

/** Size in bytes of the keys and values of one token. */
export function bytesPerToken(past: readonly PastInput[]): number {
  const types = past.map((each) => pastType(each, 1));
  return types.reduce((sum, { dataType, shape }) => sum + elementCount(shape) * storageBytes(dataType), 0);
}

/** The rows of one key or value tensor: for each head a contiguous run of rows, `strideBytes` from head to head. */
interface Rows {
  readonly past: PastInput;
  readonly start: number;
  readonly heads: number;
  readonly rowBytes: number;
  readonly strideBytes: number;
}

/** A key-value cache of fixed capacity. Its memory is zero-filled at first. */
export class KvCache implements DecoderCache {
  /** Number of token positions of the cache. */
  readonly capacity: number;
  /** Offset of the block in engine memory, in bytes. */
  readonly start: number;
  readonly #memory: EngineMemory;
  readonly #bytes: number;
  readonly #rows: readonly Rows[];

  constructor(memory: EngineMemory, past: readonly PastInput[], capacity: number) {
    const types = past.map((each) => pastType(each, capacity));
    const { offsets, bytes } = layOutStates(types);
    this.capacity = capacity;
    this.#memory = memory;
    this.#bytes = bytes;
    this.start = memory.allocate(bytes);
    this.#rows = types.map(({ dataType, shape }, index): Rows => {
      const each = at(past, index);
      const { axis } = each;
      const rowBytes = elementCount(shape.slice(axis + 1)) * storageBytes(dataType);
      const heads = elementCount(shape.slice(0, axis));
      return { past: each, start: this.start + at(offsets, index), heads, rowBytes, strideBytes: rowBytes * capacity };
    });
  }

  /** Moves the rows of `count` tokens from position `first` to position `to`. The ranges may overlap. */
  move(first: number, to: number, count: number): void {
    if (first === to || count === 0) return;
    this.#each(this.#rows, ({ rowBytes }, at, bytes) =>
      bytes.copyWithin(at + to * rowBytes, at + first * rowBytes, at + (first + count) * rowBytes),
    );
  }

  /** Sets the rows of the positions `first` to `end` (exclusive) to 0, because masked positions must hold finite numbers. */
  clear(first: number, end: number): void {
    if (first >= end) return;
    this.#each(this.#rows, ({ rowBytes }, at, bytes) => bytes.fill(0, at + first * rowBytes, at + end * rowBytes));
  }

  /** Copies the rows of the first `count` tokens from another cache of the same model. */
  copyFrom(other: DecoderCache, count: number): void {
    if (!(other instanceof KvCache)) throw new TypeError("the cache is not in engine memory");
    const sources = other.#rows;
    for (const [index, target] of this.#rows.entries()) {
      const source = at(sources, index);
      this.#each([target], ({ rowBytes, start, strideBytes }, at, bytes) => {
        const from = source.start + ((at - start) / strideBytes) * source.strideBytes;
        bytes.copyWithin(at, from, from + count * rowBytes);
      });
    }
  }

  /** Frees the block of the cache. */
  release(): void {
    this.#memory.release(this.start, this.#bytes);
  }

  /** Calls `visit` for every head of every tensor. `at` is the byte offset of the first row of the head, `bytes` the whole engine memory. */
  #each(all: readonly Rows[], visit: (rows: Rows, at: number, bytes: Uint8Array) => void): void {
    const bytes = new Uint8Array(this.#memory.memory.buffer);
    for (const rows of all)
      for (let head = 0; head < rows.heads; head += 1) visit(rows, rows.start + head * rows.strideBytes, bytes);
  }
}
