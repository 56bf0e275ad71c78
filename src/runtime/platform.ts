/**
 * The platform interface: what differs between Node.js and a browser. The composition root passes an implementation to the
 * runtime.
 */
import type { Backend } from "../contract/backend.ts";
import type { DividedPlacement } from "../models/placement.ts";
import type { MachineReader } from "../devices/machine.ts";
import type { SupervisionFactory } from "./supervision/supervisor.ts";
import type { CircuitBreakers } from "./supervision/circuit-breakers.ts";
import type { RuntimeSettings } from "./options/runtime-settings.ts";
import type { StoredMeasurements } from "../speed-records/store.ts";
import type { Host } from "../hosts/host.ts";
import type { HostName } from "../hosts/host-name.ts";
import type { PullProgress } from "../models/hub/progress.ts";

/** Services of the platform that a runtime runs on. */
export interface Platform {
  readonly hosts: Readonly<Record<HostName, Host>>;
  /** The host whose memory is returned to the system when a model is unloaded. */
  readonly isolatingHost: "worker" | "process";
  readonly machine: MachineReader;
  /** Reads the measurements that `inferyard bench --record` stored on this machine. */
  readMeasurements(): Promise<StoredMeasurements>;
  /**
   * Creates the supervision of hosts from the settings `maxProcessMemory`, `maxCrashes`, `crashWindow`, `loadTimeout` and
   * `runTimeout`.
   */
  createSupervision(settings: RuntimeSettings, circuits: CircuitBreakers): SupervisionFactory;
  /**
   * The backend whose models several processes compute together, each a part. Throws MODEL_UNSUPPORTED for a backend that cannot. Default: no backend can.
   */
  divideModels?(backend: Backend, division: Division): Promise<Backend>;
  /** Downloads a model's files to the place from which they are read. Throws errors of `pull` in src/models/model-store.ts. */
  fetchModel(reference: string, options: FetchOptions): Promise<void>;
}

/** How one instance of a model is divided among processes. */
export interface Division {
  readonly placement: DividedPlacement;
  /** Number of processes. */
  readonly ranks: number;
}

/** Options of a download. */
export interface FetchOptions {
  /** The variant to download, if the reference names none. */
  readonly variant?: string;
  /** true: the network is not used. */
  readonly offline?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress: (progress: PullProgress) => void;
}
