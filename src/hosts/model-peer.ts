/** A peer that holds one loaded model, and its successors. */
import type { KernelCount, Library, LoadedModel, ModelBase, ProgramCounts } from "../contract/backend.ts";
import { abortable } from "../concurrency/abortable.ts";
import { InferyardError } from "../contract/errors.ts";
import { unrefTimeout } from "../platform/event-loop.ts";
import type { CallQueue } from "./call-queue.ts";
import type { DisposeOptions, HostedModelBase } from "./host.ts";
import type { HostName } from "./host-name.ts";
import { loadWithTimeout } from "./load-timeout.ts";
import type { Call, ModelDescription, Results } from "./protocol.ts";
import type { ReplacementReason, Supervision } from "./supervision.ts";

/**
 * Minimum time between two replacements of a peer for its memory, in multiples of its load time. A memory limit that is too low
 * then costs at most a tenth of the time.
 */
const minRecycleIntervalFactor = 10;

/** The host and the supervision of a model. */
interface Owner {
  /** Name of the host. */
  readonly name: HostName;
  readonly supervision: Supervision;
}

/**
 * A model in a peer, behind a queue of calls. If the peer dies, its calls fail with HOST_DIED, and the next call starts another peer, which loads the model
 * again.
 */
export class ModelPeer {
  readonly #memory: LoadedModel["memory"];
  readonly #start: () => Promise<CallQueue>;
  readonly #owner: Owner;
  readonly #ending = new AbortController();
  #queue: CallQueue;
  #generation = 1;
  /** Whether the peer holds sequences that a successor would not have. It is then not replaced for its memory. */
  holdsSequences = false;
  #restart: Promise<void> | undefined;
  #recycling: Promise<void> | undefined;
  /** Time before which the peer is not replaced for its memory, by `performance.now()`. */
  #notRecycledUntil: number;
  /** Bytes that the first peer held when the model had been loaded and verified. */
  #loadedBytes: number;
  /** Runs while a peer that has grown is idle. */
  #idleTimer: NodeJS.Timeout | undefined;
  #disposal: Promise<void> | undefined;
  /** Whether the peer was ended by `suspend`. */
  #isSuspended = false;

  private constructor(
    start: () => Promise<CallQueue>,
    owner: Owner,
    { queue, description, milliseconds }: { queue: CallQueue; description: ModelDescription; milliseconds: number },
  ) {
    this.#start = start;
    this.#owner = owner;
    this.#queue = queue;
    this.#notRecycledUntil = performance.now() + minRecycleIntervalFactor * milliseconds;
    this.#memory = description.memory;
    this.#loadedBytes = queue.heldBytes;
  }

  /** Starts a peer and loads the model in it. */
  static async load(
    start: () => Promise<CallQueue>,
    owner: Owner,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly peer: ModelPeer; readonly description: ModelDescription }> {
    await owner.supervision.admit(signal);
    const started = performance.now();
    const queue = await start();
    const description = await awaitLoaded(queue, signal);
    return { peer: new ModelPeer(start, owner, { queue, description, milliseconds: performance.now() - started }), description };
  }

  /** Memory of the model, as the peer reported it last. */
  get memory(): LoadedModel["memory"] {
    return this.#queue.memory ?? this.#memory;
  }

  /** Programs of the model in the current peer; see `ModelBase.programs`. */
  get programs(): ProgramCounts | undefined {
    return this.#queue.programs;
  }

  /** Milliseconds since the current call began; 0 if there is none. */
  get runningMs(): number {
    return this.#queue.runningMs;
  }

  /** How many peers have taken the place of another. */
  get restarts(): number {
    return this.#generation - 1;
  }

  /** Waits for a peer that lives, and returns its number: 1 for the first, and one more for each successor. */
  async ready(signal?: AbortSignal): Promise<number> {
    await this.#revive(signal);
    return this.#generation;
  }

  /**
   * Calls the model, in a successor if this peer is dead. `generation`: the number of the peer that must answer. Throws HOST_DIED if it is gone.
   */
  async call<Operation extends keyof Results>(
    message: Call & { operation: Operation },
    signal?: AbortSignal,
    generation?: number,
  ): Promise<Results[Operation]> {
    clearTimeout(this.#idleTimer);
    if (generation === undefined) await this.#revive(signal);
    this.#refuseDisposed();
    if (generation !== undefined && (generation !== this.#generation || this.#queue.ended)) {
      throw new InferyardError("HOST_DIED", `the sequence was lost with the ${this.#queue.kind} that held it`, {
        remedy: "begin again: the model is loaded anew",
      });
    }
    try {
      return await this.#queue.call<Operation>(message, signal);
    } finally {
      this.#watchMemory();
      this.#watchGrowth();
    }
  }

  /** Ends the peer after its current calls. The next call, or `ready`, starts a successor. A peer that holds sequences stays. */
  async suspend(): Promise<void> {
    clearTimeout(this.#idleTimer);
    await this.#recycling; // its successor would be left
    if (this.holdsSequences || this.#queue.ended || this.#disposal !== undefined) return;
    this.#isSuspended = true;
    await this.#queue.end();
  }

  /** Frees the model and ends the peer. */
  dispose({ waitMs }: DisposeOptions = {}): Promise<void> {
    this.#disposal ??= this.#end(waitMs);
    return this.#disposal;
  }

  async #end(waitMs: number | undefined): Promise<void> {
    clearTimeout(this.#idleTimer);
    this.#ending.abort(); // kills a peer that is still loading
    const ended = this.#queue.end(waitMs);
    await Promise.allSettled([this.#restart, this.#recycling, ended]);
    await this.#queue.end(waitMs); // a successor that was started meanwhile
  }

  /** Starts another peer if this one is dead, once for all calls that find it dead. */
  async #revive(signal?: AbortSignal): Promise<void> {
    this.#refuseDisposed();
    if (!this.#queue.ended) return;
    this.#restart ??= this.#replaceDead().finally(() => (this.#restart = undefined));
    await abortable(this.#restart, signal);
    this.#refuseDisposed();
  }

  async #replaceDead(): Promise<void> {
    // A hung thread may still hold its memory; a suspended one finishes its calls.
    await abortable(this.#isSuspended ? this.#queue.end() : this.#queue.kill(), this.#ending.signal);
    await this.#owner.supervision.admit(this.#ending.signal);
    this.#queue = await this.#startSuccessor(this.#isSuspended ? "suspended" : "died");
    this.#isSuspended = false;
    this.#generation += 1;
  }

  /** Replaces a peer that holds too much memory. */
  #watchMemory(): void {
    const { maxMemory = Number.POSITIVE_INFINITY } = this.#owner.supervision;
    if (this.#queue.heldBytes > maxMemory && performance.now() >= this.#notRecycledUntil) this.#replace("memory");
  }

  /** Replaces a peer that has grown too much, once it was idle for long enough. */
  #watchGrowth(): void {
    const { growth } = this.#owner.supervision;
    clearTimeout(this.#idleTimer);
    if (growth?.isVerified === false && this.#generation === 1) this.#loadedBytes = this.#queue.heldBytes;
    if (growth === undefined || this.#queue.heldBytes <= this.#loadedBytes + growth.bytes) return;
    this.#idleTimer = unrefTimeout(() => {
      if (this.#queue.runningMs === 0) this.#replace("growth");
    }, growth.idleMs);
  }

  /** Starts a successor of the peer, which is ended after its current calls. */
  #replace(why: "memory" | "growth"): void {
    const old = this.#queue;
    if (old.ended || this.holdsSequences || this.#recycling !== undefined || this.#disposal !== undefined) return;
    this.#recycling = this.#recycle(old, why)
      .catch(() => {}) // the old peer stays; the failure was reported to the supervision
      .finally(() => (this.#recycling = undefined));
  }

  async #recycle(old: CallQueue, why: ReplacementReason): Promise<void> {
    await this.#owner.supervision.admit(this.#ending.signal);
    const fresh = await this.#startSuccessor(why);
    if (this.#queue !== old || old.ended) return fresh.end(); // it has died and has a successor
    this.#queue = fresh;
    this.#generation += 1;
    await old.end();
  }

  /** Starts another peer and loads the model in it. */
  async #startSuccessor(why: ReplacementReason): Promise<CallQueue> {
    const started = performance.now();
    const { name, supervision } = this.#owner;
    try {
      const queue = await loadWithTimeout(supervision, name, this.#ending.signal, async (signal) => {
        const loading = await this.#start();
        await awaitLoaded(loading, signal);
        return loading;
      });
      supervision.replaced(why, performance.now() - started);
      return queue;
    } finally {
      const now = performance.now();
      this.#notRecycledUntil = now + minRecycleIntervalFactor * (now - started);
    }
  }

  #refuseDisposed(): void {
    if (this.#disposal !== undefined) throw new InferyardError("DISPOSED", "this model was disposed");
  }
}

/** Members that models of all kinds in a peer share. */
export abstract class PeerModel implements HostedModelBase {
  readonly library: Library;
  readonly replicaBytes: number | undefined;
  readonly kernelCounts?: () => Promise<readonly KernelCount[]>;
  protected readonly peer: ModelPeer;

  constructor(peer: ModelPeer, { library, replicaBytes, countsKernels }: ModelDescription) {
    this.peer = peer;
    this.library = library;
    this.replicaBytes = replicaBytes;
    if (countsKernels) this.kernelCounts = () => peer.call<"kernelCounts">({ operation: "kernelCounts" });
  }

  get memory(): ModelBase["memory"] {
    return this.peer.memory;
  }

  get programs(): ModelBase["programs"] {
    return this.peer.programs;
  }

  get restarts(): number {
    return this.peer.restarts;
  }

  get runningMs(): number {
    return this.peer.runningMs;
  }

  suspend(): Promise<void> {
    return this.peer.suspend();
  }

  async resume(): Promise<void> {
    await this.peer.ready();
  }

  evidence(): Promise<readonly string[]> {
    return this.peer.call<"evidence">({ operation: "evidence" });
  }

  dispose(options?: DisposeOptions): Promise<void> {
    return this.peer.dispose(options);
  }
}

/**
 * Waits until the peer has loaded its model. On failure the peer is ended, or killed if the caller aborted, before this throws,
 * so that its memory is free.
 */
async function awaitLoaded(queue: CallQueue, signal: AbortSignal | undefined): Promise<ModelDescription> {
  try {
    return await queue.description(signal);
  } catch (error) {
    await (signal?.aborted === true ? queue.kill() : queue.end());
    throw error;
  }
}
