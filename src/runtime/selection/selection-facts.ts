/** The facts that selection decides on, as plain data. `facts-reader.ts` gathers them; tests write them out. */
import type { Availability, Backend, Capabilities, Device } from "../../contract/backend.ts";
import type { MemoryLimits } from "./memory-budget.ts";
import type { OpenCircuit } from "../supervision/circuit-breakers.ts";
import type { HostPolicy } from "./host-selection.ts";
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
