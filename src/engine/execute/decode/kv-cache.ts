/** The keys and values of a decoder, in one block of engine memory. */
import { at, required } from "../../../contract/checked.ts";
import { elementCount, type Tensor, type TensorMap, zeros } from "../../../contract/tensor.ts";
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

/** The keys and values of no tokens, by the names of the states, as `KvCache.read` returns them. */
export function noTokens(past: readonly PastInput[]): TensorMap {
  return Object.fromEntries(past.map((each) => [each.info.name, zeros(each.info.dataType, pastType(each, 0).shape)]));
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

  /** Returns copies of the keys and values of the first `count` tokens, as tensors with batch size 1, by the names of the states. */
  read(count: number): TensorMap {
    const tensors = this.#rows.map((rows): [string, Tensor] => {
      const tensor = zeros(rows.past.info.dataType, pastType(rows.past, count).shape);
      this.#copy(rows, tensor, count, (own, given) => given.set(own));
      return [rows.past.info.name, tensor];
    });
    return Object.fromEntries(tensors);
  }

  /** Sets the keys and values of the first `count` tokens to values from `read`. */
  write(tensors: TensorMap, count: number): void {
    for (const rows of this.#rows) {
      const tensor = required(tensors[rows.past.info.name], `the state "${rows.past.info.name}"`);
      this.#copy(rows, tensor, count, (own, given) => own.set(given));
    }
  }

  /** Calls `visit` for every head with views of its first `count` rows in this cache and in the contiguous tensor. */
  #copy(rows: Rows, tensor: Tensor, count: number, visit: (own: Uint8Array, given: Uint8Array) => void): void {
    const data = tensor.data as Float32Array | Uint16Array;
    let done = data.byteOffset;
    const bytes = count * rows.rowBytes;
    this.#each([rows], (_, at, memory) => {
      visit(memory.subarray(at, at + bytes), new Uint8Array(data.buffer, done, bytes));
      done += bytes;
    });
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
