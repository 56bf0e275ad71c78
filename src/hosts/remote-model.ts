/** Hosts whose models live in peers: worker threads or child processes. */
import type { Backend, BackendEntry, Device, LoadOptions, ModelFiles } from "../contract/backend.ts";
import { omitUndefined } from "../contract/checked.ts";
import { InferyardError, throwIfAborted } from "../contract/errors.ts";
import { getCapabilities } from "../contract/shapes/held-contract.ts";
import { findSupport } from "../contract/shapes/supported-models.ts";
import { sharesReplicas } from "../contract/replicas.ts";
import type { TensorMap } from "../contract/tensor.ts";
import { CallQueue } from "./call-queue.ts";
import type { Host, HostedRunOptions, HostedTensorModel } from "./host.ts";
import type { HostName, ModelKind } from "./host-name.ts";
import { ModelPeer, PeerModel } from "./model-peer.ts";
import type { StartPeer } from "./peer.ts";
import type { PeerPort, TensorModelDescription } from "./protocol.ts";
import { RemoteLanguageModel } from "./language/remote-language-model.ts";
import type { ReplicaGroup } from "./replica-group.ts";
import { type Supervision, unsupervised } from "./supervision.ts";

/** Creates a channel between two peers and returns its ends. */
export type OpenChannel = () => readonly [PeerPort, PeerPort];

/** A host whose models each live in a peer of their own. `openChannel`: for peers that can share memory. Default: they cannot. */
export function remoteHost(name: HostName, startPeer: StartPeer, openChannel?: OpenChannel): Host {
  return {
    name,
    async load(kind, backend, model, device, options, supervision = unsupervised, replicas) {
      throwIfAborted(options.signal);
      const shared = openChannel && replicas && sharesReplicas(backend) ? { replicas, openChannel } : undefined;
      const start = (): Promise<CallQueue> => queueFor(startPeer, { kind, backend, model, device, options, supervision, shared });
      const { peer, description } = await ModelPeer.load(start, { name, supervision }, options.signal);
      return description.kind === "language"
        ? new RemoteLanguageModel(peer, description)
        : new RemoteTensorModel(peer, description);
    },
    dispose: async () => {},
  };
}

interface Start {
  readonly kind: ModelKind;
  readonly backend: Backend;
  readonly model: ModelFiles;
  readonly device: Device;
  readonly options: LoadOptions;
  readonly supervision: Supervision;
  readonly shared: { readonly replicas: ReplicaGroup; readonly openChannel: OpenChannel } | undefined;
}

async function queueFor(
  startPeer: StartPeer,
  { kind, backend, model, device, options, supervision, shared }: Start,
): Promise<CallQueue> {
  const { signal: _signal, ...settings } = options;
  const load = { operation: "load", kind, entry: getEntry(backend), model, device, settings } as const;
  const interruptible = findSupport(getCapabilities(backend, device), model, kind)?.runsIn === "interruptible-thread";
  if (shared === undefined) return new CallQueue(startPeer, load, supervision, interruptible);
  const { replicas, openChannel } = shared;
  const { queue } = await replicas.start((sharedState) => {
    const member = replicas.enter();
    if (member === undefined) sharedState?.close();
    const replica = member && { ...member.slot, ...omitUndefined({ sharedState }) };
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

function getEntry(backend: Backend): BackendEntry {
  if (backend.entry !== undefined) return backend.entry;
  throw new InferyardError(
    "CONTRACT_VIOLATION",
    `backend "${backend.name}" declares no entry, so it cannot run anywhere but on the calling thread`,
    { remedy: 'declare `entry`, or set host to "inline"' },
  );
}

/** A model on tensors in a peer. */
class RemoteTensorModel extends PeerModel implements HostedTensorModel {
  readonly kind = "tensor";
  readonly inputs: HostedTensorModel["inputs"];
  readonly outputs: HostedTensorModel["outputs"];

  constructor(peer: ModelPeer, description: TensorModelDescription) {
    super(peer, description);
    this.inputs = description.inputs;
    this.outputs = description.outputs;
  }

  async run(inputs: TensorMap, { signal, ...options }: HostedRunOptions = {}): Promise<TensorMap> {
    return this.peer.call<"run">({ operation: "run", inputs, ...options }, signal);
  }
}
