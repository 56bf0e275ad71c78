/** Numbered sequences of a loaded model. No number is given twice. */
import { invalidInput } from "./errors.ts";
import type { SequenceId } from "./language-model.ts";

/** The state that a model keeps for each sequence (`Held`), in order of use, the least recently used first. */
export class SequenceTable<Held> {
  readonly #held = new Map<SequenceId, Held>();
  #created = 0;

  add(held: Held): SequenceId {
    this.#created += 1;
    this.#held.set(this.#created, held);
    return this.#created;
  }

  /** The sequence with this number. Throws INPUT_INVALID if there is none. */
  get(id: SequenceId): Held {
    const held = this.#held.get(id);
    if (held === undefined) throw invalidInput(`there is no sequence ${id}`);
    return held;
  }

  /** Replaces the state of a sequence, and makes it the most recently used. Throws as `get`. */
  set(id: SequenceId, held: Held): void {
    this.release(id);
    this.#held.set(id, held);
  }

  /** Replaces the state of a sequence, and leaves the order of use. Throws as `get`. */
  replace(id: SequenceId, held: Held): void {
    this.get(id);
    this.#held.set(id, held);
  }

  /** Removes a sequence, and returns its state. Throws as `get`. */
  release(id: SequenceId): Held {
    const held = this.get(id);
    this.#held.delete(id);
    return held;
  }

  get size(): number {
    return this.#held.size;
  }

  entries(): readonly (readonly [SequenceId, Held])[] {
    return [...this.#held.entries()];
  }

  values(): readonly Held[] {
    return [...this.#held.values()];
  }

  clear(): void {
    this.#held.clear();
  }
}
