/** The facts that selection decides on: plain data, gathered by `facts.ts`, made up by tests. */
import type { Availability, Capabilities, Device } from "../../backend.ts";
import type { MemoryLimits } from "../residency/memory-budget.ts";
import type { OpenCircuit } from "../supervision/circuit-breakers.ts";
import type { HostPolicy } from "../loading/host-selection.ts";
import type { MeasurementFacts } from "./measured-speed.ts";

/** What selection knows of the machine. */
export interface SelectionFacts {
  readonly backends: readonly BackendFacts[];
  readonly availableMemory: number;
  readonly deviceFacts: readonly DeviceFacts[];
  /** What models may take together, and where they will live; left out: no limit. */
  readonly budget?: { readonly limits: MemoryLimits; readonly host: HostPolicy };
  /** What failed while running and is left alone for now: targets, and single files on targets (see `placedFile`). */
  readonly openCircuits: ReadonlyMap<string, OpenCircuit>;
  /** There under the policy "fastest" only. */
  readonly measurements?: MeasurementFacts;
}

export interface BackendFacts {
  readonly name: string;
  readonly availability: Availability;
  capabilities(device: Device): Capabilities;
}

export interface DeviceFacts {
  readonly device: Device;
  readonly memoryBytes?: number;
  readonly cudaVersion?: string;
}
