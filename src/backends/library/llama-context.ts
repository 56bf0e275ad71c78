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
export class LlamaContext {
  readonly #settings: ContextSettings;
  /** Number of cells that the sequence in each slot occupies, those that it shares with others included. */
  readonly #used = new Map<number, number>();
  #address: bigint;
  #cells: number;

  private constructor(settings: ContextSettings, address: bigint) {
    this.#settings = settings;
    this.#address = address;
    this.#cells = settings.minCells;
  }

  static async create(settings: ContextSettings): Promise<LlamaContext> {
    return new LlamaContext(settings, await settings.create(settings.minCells));
  }

  get address(): bigint {
    return this.#address;
  }

  get cells(): number {
    return this.#cells;
  }

  get freeSlots(): number {
    return this.#settings.slots - this.#used.size;
  }

  /** A slot that no sequence is in; undefined if all are taken. */
  takeSlot(): number | undefined {
    for (let slot = 0; slot < this.#settings.slots; slot += 1) {
      if (this.#used.has(slot)) continue;
      this.#used.set(slot, 0);
      return slot;
    }
    return undefined;
  }

  /** Removes the sequence in a slot. */
  giveSlot(slot: number): void {
    this.cut(slot, 0);
    this.#used.delete(slot);
  }

  /** The number of cells of a slot is now this. */
  setUsed(slot: number, cells: number): void {
    this.#used.set(slot, cells);
  }

  /**
   * Removes positions from `length` on. Returns how many positions are left: `length`, or 0 for a cache that cannot remove a part (recurrent models).
   */
  cut(slot: number, length: number): number {
    const { memory } = this.#settings.functions;
    const isCut = memory.remove(this.#address, slot, length, -1);
    if (!isCut && length > 0) memory.remove(this.#address, slot, -1, -1);
    const left = isCut ? length : 0;
    this.#used.set(slot, left);
    return left;
  }

  /** Copies the sequence of a slot to another, empty one. */
  copy(from: number, to: number): void {
    this.#settings.functions.memory.copy(this.#address, from, to);
    this.#used.set(to, this.#used.get(from) ?? 0);
  }

  /** Makes room for this many more cells, if necessary in a larger context. Returns whether there is room. */
  async reserve(extra: number): Promise<boolean> {
    const needed = this.#usedCells + extra;
    if (needed <= this.#cells) return true;
    if (needed > this.#settings.maxCells) return false;
    await this.#remake(Math.min(this.#settings.maxCells, 2 ** Math.ceil(Math.log2(needed))));
    return true;
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
    const isTaken = functions.writeState(this.#address, bytes, slot) > 0;
    if (isTaken) this.#used.set(slot, cells);
    else this.cut(slot, 0);
    return isTaken;
  }

  free(): void {
    this.#settings.functions.freeContext(this.#address);
  }

  get #usedCells(): number {
    return [...this.#used.values()].reduce((sum, cells) => sum + cells, 0);
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
