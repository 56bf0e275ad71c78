/** A model at the other end of a queue of calls. When its peer dies its calls end with HOST_DIED, and the next call starts a new one. */
import type { Backend, BackendEntry, Device, LoadOptions, LoadedModel, ModelFiles } from "../backend.ts";
import { InferyardError, throwIfAborted } from "../errors.ts";
import type { TensorMap } from "../tensor.ts";
import { CallQueue } from "./call-queue.ts";
import type { Host, HostName, HostedModel, HostedRunOptions } from "./host.ts";
import type { StartPeer } from "./peer.ts";
import type { ModelDescription } from "./protocol.ts";

/** A host whose models each live in a peer of their own. */
export function remoteHost(name: HostName, startPeer: StartPeer): Host {
  return {
    name,
    async load(backend, model, device, options) {
      throwIfAborted(options.signal);
      return RemoteModel.load(() => queueFor(startPeer, backend, model, device, options), options.signal);
    },
    dispose: async () => {},
  };
}

function queueFor(startPeer: StartPeer, backend: Backend, model: ModelFiles, device: Device, options: LoadOptions): CallQueue {
  const { signal: _signal, ...settings } = options;
  return new CallQueue(startPeer, { operation: "load", entry: entryOf(backend), model, device, settings });
}

function entryOf(backend: Backend): BackendEntry {
  if (backend.entry !== undefined) return backend.entry;
  throw new InferyardError(
    "CONTRACT_VIOLATION",
    `backend "${backend.name}" declares no entry, so it cannot run anywhere but on the calling thread`,
    { remedy: 'declare `entry`, or set host to "inline"' },
  );
}

class RemoteModel implements HostedModel {
  readonly kind = "tensor";
  readonly inputs: LoadedModel["inputs"];
  readonly outputs: LoadedModel["outputs"];
  readonly library: LoadedModel["library"];
  readonly #memory: LoadedModel["memory"];
  readonly #start: () => CallQueue;
  #queue: CallQueue;
  #disposal: Promise<void> | undefined;

  private constructor(start: () => CallQueue, queue: CallQueue, description: ModelDescription) {
    this.#start = start;
    this.#queue = queue;
    this.inputs = description.inputs;
    this.outputs = description.outputs;
    this.library = description.library;
    this.#memory = description.memory;
  }

  static async load(start: () => CallQueue, signal: AbortSignal | undefined): Promise<RemoteModel> {
    const queue = start();
    try {
      return new RemoteModel(start, queue, await queue.description(signal));
    } catch (error) {
      await queue.end(); // its memory is free before the next candidate is tried
      throw error;
    }
  }

  get memory(): LoadedModel["memory"] {
    return this.#queue.memory ?? this.#memory;
  }

  async run(inputs: TensorMap, { signal, ...options }: HostedRunOptions = {}): Promise<TensorMap> {
    const queue = await this.#alive(signal);
    return queue.call<"run">({ operation: "run", inputs, ...options }, signal);
  }

  async evidence(): Promise<readonly string[]> {
    const queue = await this.#alive();
    return queue.call<"evidence">({ operation: "evidence" });
  }

  dispose(): Promise<void> {
    this.#disposal ??= this.#queue.end();
    return this.#disposal;
  }

  async #alive(signal?: AbortSignal): Promise<CallQueue> {
    if (this.#disposal !== undefined) throw new InferyardError("DISPOSED", "this model was disposed");
    if (this.#queue.ended) this.#queue = this.#start();
    const queue = this.#queue;
    if (!queue.loaded) await queue.description(signal);
    return queue;
  }
}
