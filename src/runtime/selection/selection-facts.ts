/** The facts that selection decides on, as plain data. `facts-reader.ts` gathers them; tests write them out. */
import type { Availability, Backend, Capabilities, Device, DeviceAvailability } from "../../contract/backend.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { MemoryLimits } from "./memory-budget.ts";
import type { OpenCircuit } from "../supervision/circuit-breakers.ts";
import type { Constraints } from "../targets/constraints.ts";
import type { Target } from "../targets/target.ts";
import type { HostPolicy } from "./host-selection.ts";
import type { LoadRequest } from "./load-request.ts";
import type { MeasurementFacts } from "./measured-speed.ts";

/** Facts about backends, the machine and failures for the selection. */
export interface SelectionFacts {
  readonly backends: readonly BackendFacts[];
  /** Memory of the machine that is free, in bytes. */
  readonly availableMemory: number;
  readonly deviceFacts: readonly DeviceFacts[];
  /** The memory budget and the policy for choosing hosts. Default: no limit. */
  readonly budget?: { readonly limits: MemoryLimits; readonly host: HostPolicy };
  /** Targets, and single files on targets (keys of `placementKey`), that are not tried for now because they failed. */
  readonly openCircuits: ReadonlyMap<string, OpenCircuit>;
  /** Stored measurements. Set under the policy "fastest" only, which alone reads them. */
  readonly measurements?: MeasurementFacts;
}

/** One registered backend: results of its presence probe, and its capabilities on each device. */
export interface BackendFacts {
  readonly name: string;
  readonly availability: Availability;
  capabilities(device: Device): Capabilities;
  /** `Backend.estimateCache`. */
  readonly estimateCache?: Backend["estimateCache"];
}

/** Facts about an accelerator. */
export interface DeviceFacts {
  readonly device: Device;
  readonly memoryBytes?: number;
  readonly cudaVersion?: string;
}

/** A target that is considered for a model, with everything that its checks read. */
export interface CandidateContext {
  readonly target: Target;
  /** Facts about the device; undefined if the backend is not registered or its package is not installed. */
  readonly device?: DeviceAvailability;
  readonly backend?: BackendFacts;
  readonly facts: SelectionFacts;
  readonly manifest: Manifest;
  readonly constraints: Constraints;
  readonly request: LoadRequest;
}
