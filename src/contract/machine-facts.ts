/** Facts about a machine, each with the source it was read from. */
import type { Device, DeviceType } from "./device.ts";

/** A fact about this machine, and the source it was read from. */
export interface Fact<T> {
  readonly value: T;
  readonly source: string;
}

/** Facts about this machine, gathered by `devices/`. */
export interface MachineFacts {
  /**
   * Operating system and processor architecture as Node.js names them, for example "linux" and "x64"; "browser" and "wasm32" in
   * a browser.
   */
  readonly platform: NodeJS.Platform | "browser";
  readonly architecture: string;
  readonly cpu: CpuFacts;
  /** Bytes of main memory, total and available. Limits of the control group are already applied. */
  readonly memory: { readonly total: Fact<number>; readonly available: Fact<number> };
  readonly accelerators: readonly Accelerator[];
  /** Why no accelerator of a type was found, by device type: a sentence without a full stop. */
  readonly absent: Readonly<Partial<Record<DeviceType, string>>>;
}

/** Facts about the processor. */
export interface CpuFacts {
  readonly model: Fact<string>;
  /** Instruction sets in the vendor's spelling: "AVX2", "AVX-512 VNNI", "NEON". */
  readonly features: Fact<readonly string[]>;
  /** Number of logical processors that this process may run on. */
  readonly cores: Fact<number>;
  /**
   * Number of processors that this process may use at once, by affinity mask and control group quota. At least 1; may be
   * fractional.
   */
  readonly quota: Fact<number>;
}

/** An accelerator of this machine. */
export interface Accelerator {
  readonly device: Device;
  readonly name: string;
  readonly source: string;
  readonly memory?: { readonly totalBytes: number; readonly freeBytes?: number };
  /** NVIDIA: compute capability of the chip, for example "9.0". Not a CUDA version. */
  readonly computeCapability?: string;
  /** NVIDIA: the newest CUDA version that the driver supports, for example "13.0". */
  readonly cudaVersion?: string;
  readonly driverVersion?: string;
}
