/** The keys and values of a decoder in one block of memory: rows of tokens, which may be moved, cleared and copied to a block of another capacity. */
import { elementCount } from "../../../tensor.ts";
import { storageBytes } from "../../lower/movement.ts";
import { layOutStates } from "../../plan/state-layout.ts";
import type { EngineMemory } from "../../memory/engine-memory.ts";
import { type PastInput, pastType } from "./decoder-inputs.ts";

/** Bytes of a cache for so many tokens. */
export function kvCacheBytes(past: readonly PastInput[], capacity: number): number {
  return layOutStates(past.map((each) => pastType(each, capacity))).bytes;
}

/** Rows of one token lie apart: one run of bytes for each head, `strideBytes` from head to head. */
interface Rows {
  readonly start: number;
  readonly heads: number;
  readonly rowBytes: number;
  readonly strideBytes: number;
}

export class KvCache {
  /** Tokens it holds. */
  readonly capacity: number;
  /** Where the block starts. */
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
      const axis = past[index]?.axis ?? 0;
      const rowBytes = elementCount(shape.slice(axis + 1)) * storageBytes(dataType);
      const heads = elementCount(shape.slice(0, axis));
      return { start: this.start + (offsets[index] ?? 0), heads, rowBytes, strideBytes: rowBytes * capacity };
    });
  }

  /** The places of tokens from `first` on are written to those from `to` on; they may overlap. */
  move(first: number, to: number, count: number): void {
    if (first === to || count === 0) return;
    this.#each(this.#rows, ({ rowBytes }, at, bytes) =>
      bytes.copyWithin(at + to * rowBytes, at + first * rowBytes, at + (first + count) * rowBytes),
    );
  }

  /** Zeros in the places from `first` up to, not including, `end`: what a mask hides must still be a number. */
  clear(first: number, end: number): void {
    if (first >= end) return;
    this.#each(this.#rows, ({ rowBytes }, at, bytes) => bytes.fill(0, at + first * rowBytes, at + end * rowBytes));
  }

  /** Takes the first tokens of another cache of the same model. */
  copyFrom(other: KvCache, count: number): void {
    const sources = other.#rows;
    for (const [index, target] of this.#rows.entries()) {
      const source = sources[index];
      if (source === undefined) continue;
      this.#each([target], ({ rowBytes, start, strideBytes }, at, bytes) => {
        const from = source.start + ((at - start) / strideBytes) * source.strideBytes;
        bytes.copyWithin(at, from, from + count * rowBytes);
      });
    }
  }

  release(): void {
    this.#memory.release(this.start, this.#bytes);
  }

  /** For every head: where its first row lies. */
  #each(all: readonly Rows[], visit: (rows: Rows, at: number, bytes: Uint8Array) => void): void {
    const bytes = new Uint8Array(this.#memory.memory.buffer);
    for (const rows of all)
      for (let head = 0; head < rows.heads; head += 1) visit(rows, rows.start + head * rows.strideBytes, bytes);
  }
}
