/** The arena of kernels under check: no two buffers share bytes, and what lies between them must not change. */
import { at } from "../../../contract/checked.ts";
import type { EngineMemory } from "../../memory/engine-memory.ts";
import { type ArenaLayout, bufferAlignment, type Lifetime } from "../../plan/arena-layout.ts";

/** Bytes between two buffers, at least, that no kernel may write. */
const guardBytes = 64;
const filling = 0xff; // NaN as float32, -1 as integer

/** What is in the bytes between buffers: signalling NaN as float32, each another one, so that neither copies nor results of them are the same. */
function guardByte(offset: number): number {
  const word = 0x7f800001 | (Math.imul(offset >> 2, 0x9e3779b1) >>> 10);
  return (word >>> (8 * (offset & 3))) & 0xff;
}

/** Assigns the buffers of one plan their offsets, and watches the bytes between them. */
export class GuardedArena {
  readonly #memory: EngineMemory;
  #buffers: readonly Lifetime[] = [];
  #layout: ArenaLayout = { offsets: [], bytes: 0 };

  constructor(memory: EngineMemory) {
    this.#memory = memory;
  }

  /** Assigns each buffer separate bytes, without regard to lifetimes. See `PlanSettings.assignOffsets`. */
  assignOffsets(buffers: readonly Lifetime[]): ArenaLayout {
    let bytes = guardBytes;
    const offsets = buffers.map((buffer) => {
      const start = bytes;
      bytes += Math.ceil((buffer.bytes + guardBytes) / bufferAlignment) * bufferAlignment;
      return start;
    });
    this.#buffers = buffers;
    this.#layout = { offsets, bytes };
    return this.#layout;
  }

  /** Fills the arena, before inputs and constants are written to it: elements that no kernel writes are wrong. */
  fill(): void {
    this.#memory.reserveArena(this.#layout.bytes);
    const view = this.#view().fill(filling);
    for (const { start, end } of this.#guards()) for (let byte = start; byte < end; byte += 1) view[byte] = guardByte(byte);
  }

  /** Throws if a kernel has written outside of all buffers. */
  checkGuards(): void {
    const view = this.#view();
    for (const { start, end } of this.#guards())
      for (let byte = start; byte < end; byte += 1)
        if (view[byte] !== guardByte(byte)) throw new Error(`a kernel writes ${byte - start} bytes behind the end of a tensor`);
  }

  /** The bytes before the first buffer, and after each. */
  #guards(): readonly { readonly start: number; readonly end: number }[] {
    const { offsets, bytes } = this.#layout;
    const ends = [...offsets, bytes];
    return ends.map((end, index) => {
      const start = index === 0 ? 0 : at(offsets, index - 1) + at(this.#buffers, index - 1).bytes;
      return { start, end };
    });
  }

  #view(): Uint8Array {
    return new Uint8Array(this.#memory.memory.buffer, this.#memory.arenaStart, this.#layout.bytes);
  }
}
