/** What a host and its peer (a worker, a process) say to each other. One call is under way at a time; each answer carries its call's number. */
import type { BackendEntry, Device, Library, LoadSettings, LoadedModel, ModelFiles } from "../backend.ts";
import type { SerializedError } from "../errors.ts";
import type { Reduction } from "../reduction.ts";
import type { TensorInfo, TensorMap } from "../tensor.ts";

export type Call =
  | {
      readonly operation: "load";
      readonly entry: BackendEntry;
      readonly model: ModelFiles;
      readonly device: Device;
      readonly settings: LoadSettings;
    }
  | {
      readonly operation: "run";
      readonly inputs: TensorMap;
      readonly outputs?: readonly string[];
      readonly reductions?: Readonly<Record<string, Reduction>>;
    }
  | { readonly operation: "evidence" }
  | { readonly operation: "dispose" };

export type CallMessage = Call & { readonly number: number };

/** The result of each operation. */
export interface Results {
  readonly load: ModelDescription;
  readonly run: TensorMap;
  readonly evidence: readonly string[];
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
}

/** Data of a new worker. */
export interface WorkerData {
  readonly gate: SharedArrayBuffer;
}
