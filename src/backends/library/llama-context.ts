/**
 * The memory of a model's sequences: one `llama_context` with a unified cache, whose cells all sequences share. It begins small. When it is full it is made anew
 * with more cells, and the states of all sequences are moved, so that memory is taken when it is needed.
 */
import { InferyardError } from "../../contract/errors.ts";
import type { LlamaFunctions } from "./llama-functions.ts";

/** Settings of a context. */
export interface ContextSettings {
  readonly functions: LlamaFunctions;
  /** Creates a context with this many cells. Throws OUT_OF_MEMORY. */
  readonly create: (cells: number) => Promise<bigint>;
  /** Cells that it begins with, and may have. */
  readonly minCells: number;
  readonly maxCells: number;
  /** Number of sequences. */
  readonly slots: number;
}

/** The context of a model. */
export class LibraryContext {
  readonly #settings: ContextSettings;
  /** By slot the number of cells that its sequence occupies, those that it shares with others included. */
  readonly #used = new Map<number, number>();
  /** By slot the number of cells that are kept for its sequence. */
  readonly #reserved = new Map<number, number>();
  #address: bigint;
  #cells: number;

  private constructor(settings: ContextSettings, address: bigint) {
    this.#settings = settings;
    this.#address = address;
    this.#cells = settings.minCells;
  }

  static async create(settings: ContextSettings): Promise<LibraryContext> {
    return new LibraryContext(settings, await settings.create(settings.minCells));
  }

  get address(): bigint {
    return this.#address;
  }

  /** Number of positions in a slot. */
  length(slot: number): number {
    return this.#used.get(slot) ?? 0;
  }

  /** The number of positions in a slot is now this. */
  setLength(slot: number, length: number): void {
    this.#used.set(slot, length);
  }

  /**
   * Keeps cells for a sequence of `length` positions, in a larger context if need be. Returns its slot: `current`, or one that no sequence is in. Undefined if
   * all slots are taken, or if there may not be so many cells.
   */
  async reserve(current: number | undefined, length: number): Promise<number | undefined> {
    const slots = Array.from({ length: this.#settings.slots }, (_, slot) => slot);
    const slot = current ?? slots.find((each) => !this.#used.has(each));
    if (slot === undefined) return undefined;
    const others = [...this.#used].filter(([each]) => each !== slot);
    const needed = others.reduce((sum, [each, used]) => sum + Math.max(used, this.#reserved.get(each) ?? 0), length);
    if (needed > this.#settings.maxCells) return undefined;
    if (needed > this.#cells) await this.#remake(Math.min(this.#settings.maxCells, 2 ** Math.ceil(Math.log2(needed))));
    this.#reserved.set(slot, length);
    this.#used.set(slot, this.length(slot));
    return slot;
  }

  /** Removes the sequence in a slot. */
  give(slot: number): void {
    this.cut(slot, 0);
    this.#used.delete(slot);
    this.#reserved.delete(slot);
  }

  /** Removes positions from `length` on; all, where a cache cannot remove a part (recurrent models). */
  cut(slot: number, length: number): void {
    const { memory } = this.#settings.functions;
    const isCut = memory.remove(this.#address, slot, length, -1);
    if (!isCut && length > 0) memory.remove(this.#address, slot, -1, -1);
    this.#used.set(slot, isCut ? length : 0);
    this.#reserved.delete(slot);
  }

  /** Copies the sequence of a slot to another, empty one. */
  copy(from: number, to: number): void {
    this.#settings.functions.memory.copy(this.#address, from, to);
    this.#used.set(to, this.length(from));
  }

  /** Replaces the context by a new one in which the free cells are contiguous. */
  async compact(): Promise<void> {
    await this.#remake(this.#cells);
  }

  /** The state of the sequence in a slot. Throws RUN_FAILED if the library does not give it. */
  readState(slot: number): Uint8Array {
    const { functions } = this.#settings;
    const bytes = new Uint8Array(functions.stateSize(this.#address, slot));
    const written = functions.readState(this.#address, bytes, slot);
    if (written === 0) throw new InferyardError("RUN_FAILED", "the library does not give the state of a sequence");
    return bytes.subarray(0, written);
  }

  /** Fills an empty slot with a state of `cells` positions. Returns whether the library took it. */
  writeState(slot: number, bytes: Uint8Array, cells: number): boolean {
    const { functions } = this.#settings;
    const isTaken = functions.writeState(this.#address, bytes, slot) === bytes.length;
    if (isTaken) this.#used.set(slot, cells);
    else this.cut(slot, 0);
    return isTaken;
  }

  free(): void {
    this.#settings.functions.freeContext(this.#address);
  }

  async #remake(cells: number): Promise<void> {
    const { functions, create } = this.#settings;
    const states = [...this.#used].map(([slot, used]) => {
      functions.memory.remove(this.#address, slot, used, -1); // what a failed call left behind
      return { slot, used, bytes: used === 0 ? undefined : this.readState(slot) };
    });
    const address = await create(cells);
    functions.freeContext(this.#address);
    this.#address = address;
    this.#cells = cells;
    for (const { slot, used, bytes } of states) {
      if (bytes === undefined || this.writeState(slot, bytes, used)) continue;
      throw new InferyardError("RUN_FAILED", "the library does not take back the state of a sequence that it gave");
    }
  }
}
