/** What differs between the places a runtime lives in, Node.js or a browser. The composition root hands it over. */
import type { MachineReader } from "../devices/machine.ts";
import type { Supervision } from "../hosts/supervision.ts";
import type { Variant } from "../models/manifest.ts";
import type { CircuitBreakers } from "./supervision/circuit-breakers.ts";
import type { RuntimeSettings } from "./options/runtime-settings.ts";
import type { Target } from "./selection/target.ts";
import type { StoredMeasurements } from "../measurements/store.ts";
import type { Host, HostName } from "../hosts/host.ts";
import type { PullProgress } from "../models/hub/progress.ts";

export interface Platform {
  readonly hosts: Readonly<Record<HostName, Host>>;
  /** The host that gives all its memory back when a model leaves. */
  readonly isolatingHost: "worker" | "process";
  readonly machine: MachineReader;
  /** What `inferyard bench --record` has kept on this machine. */
  readMeasurements(): Promise<StoredMeasurements>;
  /** Who watches over hosts that can die, by the settings `maxProcessMemory`, `maxCrashes`, `crashWindow`, `loadTimeout` and `runTimeout`. */
  createSupervision(settings: RuntimeSettings, circuits: CircuitBreakers): SupervisionFactory;
  /** Brings a model's files to where they are read; throws what src/models/model-store.ts says of `pull`. */
  fetchModel(reference: string, options: FetchOptions): Promise<void>;
}

/** Of a model that is loaded as `reference`; undefined: nobody watches, and a host that died is started again by the next call. */
export type SupervisionFactory = (reference: string, target: Target, variant: Variant) => Supervision | undefined;

export interface FetchOptions {
  /** Where the reference itself names none. */
  readonly variant?: string;
  /** Nothing is asked of the network. */
  readonly offline?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress: (progress: PullProgress) => void;
}
