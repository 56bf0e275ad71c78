/**
 * Elements of a large literal that need not be in memory: they are read, unpacked or computed anew when somebody asks. Literals that share
 * elements share one of these, so it is what tells them from others.
 */
import type { TensorData } from "../../tensor.ts";

/** Where elements are to be had from. */
export interface ElementSource {
  /** A new array of them, the same each time. */
  make(): TensorData;
  /** Writes their bytes without an array in between, where that is possible. */
  write?(target: Uint8Array): void;
  /** They lie in a file that will be closed: see `keep`. */
  readonly inFile?: true;
}

export class HeldElements {
  #kept: TensorData | undefined;
  /** Spares making them again while nobody needs the memory. */
  #recent: WeakRef<TensorData & object> | undefined;
  #source: ElementSource | undefined;
  readonly #facts = new Map<string, unknown>();

  constructor(kept: TensorData | undefined, source: ElementSource | undefined) {
    this.#kept = kept;
    this.#source = source;
  }

  /** What they take beside the places they were packed to. */
  get bytes(): number {
    return (this.#kept as Uint8Array | undefined)?.byteLength ?? 0;
  }

  /** The same elements each time, perhaps in another array. */
  get elements(): TensorData {
    const known = this.#kept ?? this.#recent?.deref();
    if (known !== undefined) return known;
    if (this.#source === undefined) throw new Error("these elements were never given");
    const elements = this.#source.make();
    this.#recent = new WeakRef(elements);
    return elements;
  }

  /** Writes their bytes without an array of them in between. */
  write(target: Uint8Array): void {
    this.#source?.write?.(target);
  }

  /** They may go, since they can be had again: from `source`, where one is given. */
  letGo(source: ElementSource | undefined = this.#source): void {
    if (source === undefined) return;
    this.#source = source;
    this.#kept = undefined;
  }

  /** Whether `write` can be asked: they are not in an array anyway. */
  get canWrite(): boolean {
    return this.#kept === undefined && this.#source?.write !== undefined;
  }

  /** Whether they are kept in an array, or would be by `keep`. */
  get isHere(): boolean {
    return this.#kept !== undefined || this.#source?.inFile === true;
  }

  /** Those that lie in a file come into memory: the file may be closed then. */
  keep(): void {
    if (this.#source?.inFile !== true) return;
    this.#kept = this.elements;
    this.#source = undefined;
  }

  /** What was found out about the elements so far, and what another copy of the model has found out about the same ones. */
  get facts(): ReadonlyMap<string, unknown> {
    return this.#facts;
  }

  learn(facts: ReadonlyMap<string, unknown>): void {
    for (const [name, value] of facts) this.#facts.set(name, value);
  }

  /** What was found out about the elements. It is looked for once, and outlives them. Plain data, as `learn` takes it. */
  fact<T>(name: string, find: () => T): T {
    if (!this.#facts.has(name)) this.#facts.set(name, find());
    return this.#facts.get(name) as T;
  }
}
