/** A model at the other end of a queue of calls. When its peer dies its calls end with HOST_DIED, and the next call starts a new one. */
import type { Backend, BackendEntry, Device, LoadOptions, LoadedModel, ModelFiles } from "../backend.ts";
import { InferyardError, throwIfAborted } from "../errors.ts";
import type { TensorMap } from "../tensor.ts";
import { abortable } from "../concurrency/abortable.ts";
import { CallQueue } from "./call-queue.ts";
import type { ReplicaGroup } from "./replica-group.ts";
import type { DisposeOptions, Host, HostName, HostedModel, HostedRunOptions } from "./host.ts";
import { loadWithTimeout } from "./load-timeout.ts";
import type { StartPeer } from "./peer.ts";
import type { ModelDescription, PeerPort } from "./protocol.ts";
import { type ReplacementReason, type Supervision, unsupervised } from "./supervision.ts";

/** Makes a channel between two peers. */
export type OpenChannel = () => readonly [PeerPort, PeerPort];

/** A host whose models each live in a peer of their own. `openChannel`: for peers that can share memory. Default: they cannot. */
export function remoteHost(name: HostName, startPeer: StartPeer, openChannel?: OpenChannel): Host {
  return {
    name,
    async load(backend, model, device, options, supervision = unsupervised, copies) {
      throwIfAborted(options.signal);
      const shared = openChannel && copies && { copies, openChannel };
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
  readonly shared: { readonly copies: ReplicaGroup; readonly openChannel: OpenChannel } | undefined;
}

async function queueFor(
  startPeer: StartPeer,
  { backend, model, device, options, supervision, shared }: Start,
): Promise<CallQueue> {
  const { signal: _signal, copy: _copy, ...settings } = options;
  const load = { operation: "load", entry: entryOf(backend), model, device, settings } as const;
  const { interruptible = false } = backend.capabilities(device);
  if (shared === undefined) return new CallQueue(startPeer, load, supervision, interruptible);
  const { copies, openChannel } = shared;
  const { queue } = await copies.start((given) => {
    const from = given as PeerPort | undefined;
    const member = copies.enter();
    if (member === undefined) from?.close();
    const copy = member && { ...member.slot, ...(from === undefined ? {} : { from }) };
    const startMember: StartPeer = (events) => startPeer({ ...events, onEnd: () => member?.leave() }, interruptible);
    const started = new CallQueue(startMember, copy === undefined ? load : { ...load, copy }, supervision, interruptible);
    const give = async (): Promise<PeerPort | undefined> => {
      const [near, far] = openChannel();
      if (await started.call<"give">({ operation: "give", port: near }, undefined, "next")) return far;
      far.close();
      return undefined;
    };
    const loaded = started
      .description(undefined)
      .then(({ replicaBytes }) => ({ give: replicaBytes === undefined ? undefined : give }));
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

/** A peer is left alone for this many times as long as its loading took: a limit of memory set too low costs a tenth of the time at most. */
const minRecycleIntervalFactor = 10;

/** Who a model belongs to. */
interface Owner {
  /** Of the host. */
  readonly name: HostName;
  readonly supervision: Supervision;
}

class RemoteModel implements HostedModel {
  readonly kind = "tensor";
  readonly inputs: LoadedModel["inputs"];
  readonly outputs: LoadedModel["outputs"];
  readonly library: LoadedModel["library"];
  readonly replicaBytes: number | undefined;
  readonly #memory: LoadedModel["memory"];
  readonly #start: () => Promise<CallQueue>;
  readonly #owner: Owner;
  readonly #ending = new AbortController();
  #queue: CallQueue;
  #restart: Promise<void> | undefined;
  #recycling: Promise<void> | undefined;
  /** The peer is not replaced for its memory before this moment. */
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
    this.#ending.abort(); // a peer that is loading is killed
    const ended = this.#queue.end(waitMs);
    await Promise.allSettled([this.#restart, this.#recycling, ended]);
    await this.#queue.end(waitMs); // one that has taken its place meanwhile
  }

  /** Starts another peer where this one is dead: once, for all calls that find it so. */
  async #revive(signal?: AbortSignal): Promise<void> {
    this.#refuseDisposed();
    if (!this.#queue.ended) return;
    this.#restart ??= this.#replaceDead().finally(() => (this.#restart = undefined));
    await abortable(this.#restart, signal);
    this.#refuseDisposed();
  }

  async #replaceDead(): Promise<void> {
    await abortable(this.#queue.kill(), this.#ending.signal); // one that hangs on a thread may hold its memory still
    await this.#owner.supervision.admit(this.#ending.signal);
    this.#queue = await this.#startSuccessor("died");
  }

  /** A peer that holds too much is replaced beside the calls it has: it is ended when they are done. */
  #watchMemory(): void {
    const { maxMemory } = this.#owner.supervision;
    const old = this.#queue;
    if (maxMemory === undefined || old.ended || old.heldBytes <= maxMemory) return;
    if (this.#recycling !== undefined || this.#disposal !== undefined || performance.now() < this.#notRecycledUntil) return;
    this.#recycling = this.#recycle(old)
      .catch(() => {}) // the old one goes on; what happened to the new one was told
      .finally(() => (this.#recycling = undefined));
  }

  async #recycle(old: CallQueue): Promise<void> {
    await this.#owner.supervision.admit(this.#ending.signal);
    const fresh = await this.#startSuccessor("memory");
    if (this.#queue !== old || old.ended) return fresh.end(); // it has died meanwhile, and has a successor
    this.#queue = fresh;
    await old.end();
  }

  /** A further peer that has loaded the model. */
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

/** Waits until the peer has loaded its model. One that fails is ended, and one that nobody waits for is killed, before this throws: its memory is free then. */
async function awaitLoaded(queue: CallQueue, signal: AbortSignal | undefined): Promise<ModelDescription> {
  try {
    return await queue.description(signal);
  } catch (error) {
    await (signal?.aborted === true ? queue.kill() : queue.end());
    throw error;
  }
}
