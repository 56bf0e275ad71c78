/** The replicas of a model: single-threaded copies that share bulk work, loaded at the first need and unloaded when they have been idle. */
import type { HostedRunOptions, HostedTensorModel } from "../../hosts/host.ts";
import type { TensorMap } from "../../contract/tensor.ts";

/** Number of replicas, and how they are loaded. */
export interface ReplicasOptions {
  /** Number of replicas; 0: none. */
  readonly count: number;
  /** Loads one replica, by its number from 0. */
  readonly load: (index: number) => Promise<HostedTensorModel>;
  /** Whether each replica has a device of its own: it stays when it is idle, and those that load are used where others do not. Default: false. */
  readonly haveDevices?: boolean;
  /** Books the memory of all replicas. Returns false if it does not suffice: none is loaded then. */
  readonly book: () => boolean;
  /** Called after replicas were loaded or unloaded, or did not load. */
  readonly onChange: () => void;
  /** Called before idle replicas are unloaded, which waits for it. */
  readonly beforeIdle: () => Promise<void>;
}

interface Replica {
  readonly model: HostedTensorModel;
  /** Runs in progress. */
  running: number;
}

/**
 * Milliseconds without a run after which replicas are unloaded: a burst of work must not leave its memory behind. Loading them again takes some
 * tenths of a second.
 */
const maxIdleMs = 6_000;

/** Loads, runs and unloads the replicas of one model. */
export class Replicas {
  readonly #options: ReplicasOptions;
  #loading: Promise<readonly Replica[]> | undefined;
  #loaded: readonly Replica[] = [];
  #idleTimer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(options: ReplicasOptions) {
    this.#options = options;
  }

  /** Number of replicas that have a run in progress. */
  get running(): number {
    return this.#loaded.filter(({ running }) => running > 0).length;
  }

  /** The replicas in memory; empty if none are. */
  get models(): readonly HostedTensorModel[] {
    return this.#loaded.map(({ model }) => model);
  }

  /** Loads the replicas if they are not loaded. Resolves with their number: all, or 0 if memory does not suffice or one does not load, which is not tried again. */
  async load(): Promise<number> {
    this.#loading ??= this.#loadAll();
    return (await this.#loading).length;
  }

  /** The smallest number of runs in progress on one of them; infinite if none are in memory. */
  get minRunning(): number {
    return Math.min(...this.#loaded.map(({ running }) => running));
  }

  /** Runs on the replica with this number, else on the one with the fewest runs in progress; of equals the first. Must not be called while none are in memory. */
  async run(inputs: TensorMap, options: HostedRunOptions, index?: number): Promise<TensorMap> {
    const idlest = this.#loaded.reduce((best, other) => (other.running < best.running ? other : best));
    const replica = (index === undefined ? undefined : this.#loaded[index]) ?? idlest;
    clearTimeout(this.#idleTimer);
    replica.running += 1;
    try {
      return await replica.model.run(inputs, options);
    } finally {
      replica.running -= 1;
      this.#unloadWhenIdle();
    }
  }

  /** Unloads the replicas. They are loaded again at the next need, unless `isFinal`. `waitMs`: maximum wait for runs in progress. Default: no limit. */
  async unload({
    isFinal = false,
    waitMs,
  }: { readonly isFinal?: boolean; readonly waitMs?: number | undefined } = {}): Promise<void> {
    clearTimeout(this.#idleTimer);
    this.#ended ||= isFinal;
    await this.#loading;
    const replicas = this.#loaded;
    this.#loading = undefined;
    this.#loaded = [];
    await Promise.all(replicas.map(({ model }) => model.dispose({ waitMs })));
  }

  async #loadAll(): Promise<readonly Replica[]> {
    const { count, load, book, onChange, haveDevices = false } = this.#options;
    if (count < 1 || !book()) return [];
    const settled = await Promise.allSettled(Array.from({ length: count }, async (_, index) => await load(index)));
    const models = settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    if ((haveDevices || models.length === count) && !this.#ended) this.#loaded = models.map((model) => ({ model, running: 0 }));
    else await Promise.all(models.map((replica) => replica.dispose()));
    onChange(); // replaces the estimate
    this.#unloadWhenIdle();
    return this.#loaded;
  }

  #unloadWhenIdle(): void {
    clearTimeout(this.#idleTimer);
    if (this.#options.haveDevices === true || this.#loaded.length === 0 || this.#loaded.some(({ running }) => running > 0))
      return;
    const timer = setTimeout(() => void this.#unloadIdle(), maxIdleMs);
    this.#idleTimer = timer;
    timer.unref?.(); // a page's timer is a number
  }

  async #unloadIdle(): Promise<void> {
    const { beforeIdle, onChange } = this.#options;
    await beforeIdle();
    if (this.running > 0) return; // the end of this run starts the timer again
    await this.unload();
    onChange();
  }
}
