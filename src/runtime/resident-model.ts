/** A model in memory: its first copy, the copies that share bulk work, and what happens when it fails while running. */
import type { LoadedModel, RunOptions } from "../backend.ts";
import { InferyardError } from "../errors.ts";
import type { TensorMap } from "../tensor.ts";
import type { Loaded } from "./loading.ts";
import type { Resident } from "./residency.ts";
import { formatTarget } from "./target.ts";

export interface ResidentModelOptions {
  /** Copies with one thread each for bulk work; 0 or 1 = none. */
  readonly copies: number;
  /** Left out: a failed run is the caller's to repeat. Else: finds the model another place after this failure. */
  readonly failover?: (failed: Loaded, failure: InferyardError) => Promise<Loaded>;
  /** Told the target when the model has left memory. */
  readonly onDispose?: (target: string) => void;
}

export class ResidentModel implements Resident {
  readonly #options: ResidentModelOptions;
  #loaded: Loaded;
  #copies: Promise<readonly LoadedModel[]> | undefined;
  #replacement: Promise<Loaded> | undefined;
  #disposed = false;

  constructor(loaded: Loaded, options: ResidentModelOptions) {
    this.#loaded = loaded;
    this.#options = options;
  }

  /** What is loaded now; changes when a failover moves the model. */
  get loaded(): Loaded {
    return this.#loaded;
  }

  /** Runs once, and once more elsewhere where failover is on and the failure may pass. */
  async run(inputs: TensorMap, options: RunOptions = {}): Promise<TensorMap> {
    this.#refuseDisposed();
    const used = this.#loaded;
    try {
      return await used.model.run(inputs, options);
    } catch (error) {
      if (this.#options.failover === undefined || !(error instanceof InferyardError) || !error.retryable) throw error;
      await this.#moveFrom(used, error);
      return this.#loaded.model.run(inputs, options);
    }
  }

  /**
   * Models for bulk work, to be used side by side: copies with one thread each, which together beat one copy with many threads. They are
   * loaded at the first call. Falls back to the one model where copies do not pay or do not load.
   */
  async lanes(): Promise<readonly Pick<LoadedModel, "run">[]> {
    this.#refuseDisposed();
    if (this.#options.copies < 2) return [this];
    this.#copies ??= this.#loadCopies();
    const copies = await this.#copies;
    return copies.length === 0 ? [this] : copies;
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    await this.#replacement?.catch(() => null); // its failure went to the run that asked for it
    await this.#disposeCopies();
    await this.#loaded.model.dispose();
    this.#options.onDispose?.(formatTarget(this.#loaded.target));
  }

  async #loadCopies(): Promise<readonly LoadedModel[]> {
    const loads = Array.from({ length: this.#options.copies }, () => this.#loaded.copy({ threads: 1 }));
    const settled = await Promise.allSettled(loads);
    const copies = settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    if (copies.length === this.#options.copies) return copies;
    await Promise.all(copies.map((copy) => copy.dispose())); // not enough memory for all: the one model does the work
    return [];
  }

  async #moveFrom(failed: Loaded, failure: InferyardError): Promise<void> {
    if (this.#loaded !== failed) return; // another run has moved it already
    this.#replacement ??= this.#options.failover?.(failed, failure);
    try {
      const replacement = await this.#replacement;
      if (replacement === undefined || this.#loaded === replacement) return;
      this.#loaded = replacement;
    } finally {
      this.#replacement = undefined; // found or not: the next failure looks anew
    }
    await this.#disposeCopies();
    await failed.model.dispose();
  }

  async #disposeCopies(): Promise<void> {
    const copies = await this.#copies;
    this.#copies = undefined;
    await Promise.all((copies ?? []).map((copy) => copy.dispose()));
  }

  #refuseDisposed(): void {
    if (this.#disposed) throw new InferyardError("DISPOSED", "this model was unloaded", { remedy: "load it again" });
  }
}
