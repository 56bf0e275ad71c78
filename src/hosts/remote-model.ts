/**
 * A model in a peer, behind a queue of calls. If the peer dies, its calls fail with HOST_DIED and the next call starts another
 * peer.
 */
import type { Backend, BackendEntry, Device, LoadOptions, LoadedModel, ModelFiles, TensorModel } from "../backend.ts";
import { InferyardError, throwIfAborted } from "../errors.ts";
import { sharesReplicas } from "../replicas.ts";
import type { TensorMap } from "../tensor.ts";
import { abortable } from "../concurrency/abortable.ts";
import { CallQueue } from "./call-queue.ts";
import type { ReplicaGroup } from "./replica-group.ts";
import type { DisposeOptions, Host, HostName, HostedModel, HostedRunOptions } from "./host.ts";
import { loadWithTimeout } from "./load-timeout.ts";
import type { StartPeer } from "./peer.ts";
import type { ModelDescription, PeerPort } from "./protocol.ts";
import { type ReplacementReason, type Supervision, unsupervised } from "./supervision.ts";

/** Creates a channel between two peers and returns its ends. */
export type OpenChannel = () => readonly [PeerPort, PeerPort];

/** A host whose models each live in a peer of their own. `openChannel`: for peers that can share memory. Default: they cannot. */
export function remoteHost(name: HostName, startPeer: StartPeer, openChannel?: OpenChannel): Host {
  return {
    name,
    async load(backend, model, device, options, supervision = unsupervised, replicas) {
      throwIfAborted(options.signal);
      const shared = openChannel && replicas && sharesReplicas(backend) ? { replicas, openChannel } : undefined;
      const start = (): Promise<CallQueue> => queueFor(startPeer, { backend, model, device, options, supervision, shared });
      return RemoteModel.load(start, { name, supervision }, options.signal);
    },
    dispose: async () => {},
  };
}

interface Start {
  readonly backend: Backend;
  readonly model: ModelFiles;
  readonly device: Device;
  readonly options: LoadOptions;
  readonly supervision: Supervision;
  readonly shared: { readonly replicas: ReplicaGroup; readonly openChannel: OpenChannel } | undefined;
}

async function queueFor(
  startPeer: StartPeer,
  { backend, model, device, options, supervision, shared }: Start,
): Promise<CallQueue> {
  const { signal: _signal, ...settings } = options;
  const load = { operation: "load", entry: entryOf(backend), model, device, settings } as const;
  const { interruptible = false } = backend.capabilities(device);
  if (shared === undefined) return new CallQueue(startPeer, load, supervision, interruptible);
  const { replicas, openChannel } = shared;
  const { queue } = await replicas.start((sharedState) => {
    const member = replicas.enter();
    if (member === undefined) sharedState?.close();
    const replica = member && { ...member.slot, ...(sharedState === undefined ? {} : { sharedState }) };
    const startMember: StartPeer = (events) => startPeer({ ...events, onEnd: () => member?.leave() }, interruptible);
    const started = new CallQueue(startMember, replica === undefined ? load : { ...load, replica }, supervision, interruptible);
    const exportState = async (): Promise<PeerPort | undefined> => {
      const [near, far] = openChannel();
      if (await started.call<"export">({ operation: "export", port: near }, undefined, "next")) return far;
      far.close();
      return undefined;
    };
    const loaded = started
      .description(undefined)
      .then(({ replicaBytes }) => ({ exportState: replicaBytes === undefined ? undefined : exportState }));
    return { queue: started, loaded };
  });
  return queue;
}

function entryOf(backend: Backend): BackendEntry {
  if (backend.entry !== undefined) return backend.entry;
  throw new InferyardError(
    "CONTRACT_VIOLATION",
    `backend "${backend.name}" declares no entry, so it cannot run anywhere but on the calling thread`,
    { remedy: 'declare `entry`, or set host to "inline"' },
  );
}

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

class RemoteModel implements HostedModel {
  readonly kind = "tensor";
  readonly inputs: TensorModel["inputs"];
  readonly outputs: TensorModel["outputs"];
  readonly library: LoadedModel["library"];
  readonly replicaBytes: number | undefined;
  readonly #memory: LoadedModel["memory"];
  readonly #start: () => Promise<CallQueue>;
  readonly #owner: Owner;
  readonly #ending = new AbortController();
  #queue: CallQueue;
  #restart: Promise<void> | undefined;
  #recycling: Promise<void> | undefined;
  /** Time before which the peer is not replaced for its memory, by `performance.now()`. */
  #notRecycledUntil: number;
  #disposal: Promise<void> | undefined;

  private constructor(
    start: () => Promise<CallQueue>,
    owner: Owner,
    { queue, description, milliseconds }: { queue: CallQueue; description: ModelDescription; milliseconds: number },
  ) {
    this.#start = start;
    this.#owner = owner;
    this.#queue = queue;
    this.#notRecycledUntil = performance.now() + minRecycleIntervalFactor * milliseconds;
    this.inputs = description.inputs;
    this.outputs = description.outputs;
    this.library = description.library;
    this.#memory = description.memory;
    this.replicaBytes = description.replicaBytes;
  }

  static async load(start: () => Promise<CallQueue>, owner: Owner, signal: AbortSignal | undefined): Promise<RemoteModel> {
    await owner.supervision.admit(signal);
    const started = performance.now();
    const queue = await start();
    const description = await awaitLoaded(queue, signal);
    return new RemoteModel(start, owner, { queue, description, milliseconds: performance.now() - started });
  }

  get memory(): LoadedModel["memory"] {
    return this.#queue.memory ?? this.#memory;
  }

  get runningMs(): number {
    return this.#queue.runningMs;
  }

  async run(inputs: TensorMap, { signal, ...options }: HostedRunOptions = {}): Promise<TensorMap> {
    await this.#revive(signal);
    try {
      return await this.#queue.call<"run">({ operation: "run", inputs, ...options }, signal);
    } finally {
      this.#watchMemory();
    }
  }

  async evidence(): Promise<readonly string[]> {
    await this.#revive();
    return this.#queue.call<"evidence">({ operation: "evidence" });
  }

  dispose({ waitMs }: DisposeOptions = {}): Promise<void> {
    this.#disposal ??= this.#end(waitMs);
    return this.#disposal;
  }

  async #end(waitMs: number | undefined): Promise<void> {
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
    await abortable(this.#queue.kill(), this.#ending.signal); // a hung thread may still hold its memory
    await this.#owner.supervision.admit(this.#ending.signal);
    this.#queue = await this.#startSuccessor("died");
  }

  /** Replaces a peer that holds too much memory. It is ended after its current calls. */
  #watchMemory(): void {
    const { maxMemory } = this.#owner.supervision;
    const old = this.#queue;
    if (maxMemory === undefined || old.ended || old.heldBytes <= maxMemory) return;
    if (this.#recycling !== undefined || this.#disposal !== undefined || performance.now() < this.#notRecycledUntil) return;
    this.#recycling = this.#recycle(old)
      .catch(() => {}) // the old peer stays; the failure was reported to the supervision
      .finally(() => (this.#recycling = undefined));
  }

  async #recycle(old: CallQueue): Promise<void> {
    await this.#owner.supervision.admit(this.#ending.signal);
    const fresh = await this.#startSuccessor("memory");
    if (this.#queue !== old || old.ended) return fresh.end(); // it has died and has a successor
    this.#queue = fresh;
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
