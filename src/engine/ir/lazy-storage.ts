/**
 * Elements of a large literal that need not be in memory: they are read, unpacked or computed anew when somebody asks. Literals that share
 * elements share one of these, so it is what tells them from others.
 */
import type { TensorData } from "../../tensor.ts";

/** Where elements are to be had from. */
export interface ElementSource {
  /** A new array of them, the same each time. */
  materialize(): TensorData;
  /** Writes their bytes without an array in between, where that is possible. */
  copyTo?(target: Uint8Array): void;
  /** They lie in a file that will be closed: see `keep`. */
  readonly inFile?: true;
}

export class LazyStorage {
  #data: TensorData | undefined;
  /** Spares making them again while nobody needs the memory. */
  #cached: WeakRef<TensorData & object> | undefined;
  #source: ElementSource | undefined;
  readonly #analyses = new Map<string, unknown>();

  constructor(kept: TensorData | undefined, source: ElementSource | undefined) {
    this.#data = kept;
    this.#source = source;
  }

  /** What they take beside the places they were packed to. */
  get residentBytes(): number {
    return (this.#data as Uint8Array | undefined)?.byteLength ?? 0;
  }

  /** The same elements each time, perhaps in another array. */
  get data(): TensorData {
    const known = this.#data ?? this.#cached?.deref();
    if (known !== undefined) return known;
    if (this.#source === undefined) throw new Error("these elements were never given");
    const elements = this.#source.materialize();
    this.#cached = new WeakRef(elements);
    return elements;
  }

  /** Writes their bytes without an array of them in between. */
  copyTo(target: Uint8Array): void {
    this.#source?.copyTo?.(target);
  }

  /** They may go, since they can be had again: from `source`, where one is given. */
  release(source: ElementSource | undefined = this.#source): void {
    if (source === undefined) return;
    this.#source = source;
    this.#data = undefined;
  }

  /** Whether `write` can be asked: they are not in an array anyway. */
  get canCopy(): boolean {
    return this.#data === undefined && this.#source?.copyTo !== undefined;
  }

  /** Whether they are kept in an array, or would be by `keep`. */
  get isStored(): boolean {
    return this.#data !== undefined || this.#source?.inFile === true;
  }

  /** Those that lie in a file come into memory: the file may be closed then. */
  loadFromFile(): void {
    if (this.#source?.inFile !== true) return;
    this.#data = this.data;
    this.#source = undefined;
  }

  /** What was found out about the elements so far, and what another copy of the model has found out about the same ones. */
  get analyses(): ReadonlyMap<string, unknown> {
    return this.#analyses;
  }

  addAnalyses(facts: ReadonlyMap<string, unknown>): void {
    for (const [name, value] of facts) this.#analyses.set(name, value);
  }

  /** What was found out about the elements. It is looked for once, and outlives them. Plain data, as `learn` takes it. */
  analysis<T>(name: string, find: () => T): T {
    if (!this.#analyses.has(name)) this.#analyses.set(name, find());
    return this.#analyses.get(name) as T;
  }
}
