/** The arena of kernels under check: no two buffers share bytes, and what lies between them must not change. */
import { at } from "../../../contract/checked.ts";
import type { EngineMemory } from "../../memory/engine-memory.ts";
import { type ArenaLayout, bufferAlignment, type Lifetime } from "../../plan/arena-layout.ts";

/** Bytes between two buffers, at least, that no kernel may write. */
const guardBytes = 64;
const filling = 0xff; // NaN as float32, -1 as integer

/** Assigns the buffers of one plan their offsets, and watches the bytes between them. */
export class GuardedArena {
  readonly #memory: EngineMemory;
  #buffers: readonly Lifetime[] = [];
  #layout: ArenaLayout = { offsets: [], bytes: 0 };

  constructor(memory: EngineMemory) {
    this.#memory = memory;
  }

  /** Assigns each buffer bytes of its own, whatever its lifetime. See `PlanSettings.assignOffsets`. */
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
    this.#view().fill(filling);
  }

  /** Throws if a kernel has written outside of all buffers. */
  checkGuards(): void {
    const view = this.#view();
    let end = 0;
    for (const [index, start] of [...this.#layout.offsets, this.#layout.bytes].entries()) {
      for (let byte = end; byte < start; byte += 1)
        if (view[byte] !== filling) throw new Error(`a kernel writes ${byte - end} bytes behind the end of a tensor`);
      if (index < this.#buffers.length) end = start + at(this.#buffers, index).bytes;
    }
  }

  #view(): Uint8Array {
    return new Uint8Array(this.#memory.memory.buffer, this.#memory.arenaStart, this.#layout.bytes);
  }
}
