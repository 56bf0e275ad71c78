/** What a host and its peer (a worker, a process) say to each other. One call is under way at a time; each answer carries its call's number. */
import type {
  BackendEntry,
  ReplicaSlot,
  Device,
  Library,
  LoadLimits,
  LoadSettings,
  LoadedModel,
  ModelFiles,
} from "../backend.ts";
import type { SerializedError } from "../errors.ts";
import type { Reduction } from "./output-reduction.ts";
import type { TensorInfo, TensorMap } from "../tensor.ts";

export type Call =
  | {
      readonly operation: "load";
      readonly entry: BackendEntry;
      readonly model: ModelFiles;
      readonly device: Device;
      readonly settings: LoadSettings & LoadLimits;
      /** `from`: see `PeerPort`. */
      readonly copy?: Pick<ReplicaSlot, "members" | "index"> & { readonly from?: PeerPort };
    }
  | {
      readonly operation: "run";
      readonly inputs: TensorMap;
      readonly outputs?: readonly string[];
      readonly reductions?: Readonly<Record<string, Reduction>>;
    }
  | { readonly operation: "evidence" }
  /** What the model shares goes through the port. Answers whether there was any. */
  | { readonly operation: "give"; readonly port: PeerPort }
  | { readonly operation: "dispose" };

/** One end of a channel between two peers: whoever has the other end finds there what `give` sent. It is handed over, not copied. */
export interface PeerPort {
  postMessage(value: unknown): void;
  close(): void;
}

export type CallMessage = Call & { readonly number: number };

/** The result of each operation. */
export interface Results {
  readonly load: ModelDescription;
  readonly run: TensorMap;
  readonly evidence: readonly string[];
  readonly give: boolean;
  readonly dispose: null;
}

export type AnswerMessage = {
  readonly number: number;
  /** What the peer holds now, where it knows. */
  readonly memory?: LoadedModel["memory"];
} & ({ readonly ok: true; readonly result: Results[keyof Results] } | { readonly ok: false; readonly error: SerializedError });

/** What must be known here of a model that lives over there. */
export interface ModelDescription {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  readonly library: Library;
  readonly memory: LoadedModel["memory"];
  readonly replicaBytes?: number | undefined;
}

/** Data of a new worker. */
export interface WorkerData {
  readonly gate: SharedArrayBuffer;
}

/** Ports that a message hands over. */
export function portsOf(message: Call): readonly PeerPort[] {
  if (message.operation === "give") return [message.port];
  return message.operation === "load" && message.copy?.from !== undefined ? [message.copy.from] : [];
}
