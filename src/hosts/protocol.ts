/** What the main thread and a worker say to each other. One call is under way at a time; each answer carries its call's number. */
import type { BackendEntry, Device, Library, LoadSettings, LoadedModel, ModelFiles } from "../backend.ts";
import type { SerializedError } from "../errors.ts";
import type { TensorInfo, TensorMap } from "../tensor.ts";

export type Call =
  | {
      readonly operation: "load";
      readonly entry: BackendEntry;
      readonly model: ModelFiles;
      readonly device: Device;
      readonly settings: LoadSettings;
    }
  | { readonly operation: "run"; readonly inputs: TensorMap; readonly outputs?: readonly string[] }
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

export type AnswerMessage =
  | { readonly number: number; readonly ok: true; readonly result: Results[keyof Results] }
  | { readonly number: number; readonly ok: false; readonly error: SerializedError };

/** What the main thread must know of a model that lives elsewhere. */
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
