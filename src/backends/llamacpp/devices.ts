/** The kinds of devices that llama.cpp computes on. */
import type { Device, MachineFacts } from "../../contract/backend.ts";
import type { LlamaGpu } from "./library.ts";

/** One kind of device. */
export interface LlamaDeviceType {
  /** Type of the device in targets. */
  readonly name: string;
  readonly gpu: LlamaGpu;
  /** Operating systems with builds for it, as in `process.platform`. */
  readonly platforms: readonly string[];
  devices(machine: MachineFacts): readonly Device[];
  /** Why the machine has no such device, as far as is known without loading anything. */
  absenceReason(machine: MachineFacts): string | undefined;
}

/** llama.cpp spreads a model over all GPUs of a kind, which are therefore one device here. */
const one = (type: string) => (): readonly Device[] => [{ type, index: 0 }];

/** The machine's own reason, unless it has a device of this type. */
const absence =
  (type: "cuda" | "metal" | "vulkan") =>
  ({ accelerators, absent }: MachineFacts): string | undefined =>
    accelerators.some(({ device }) => device.type === type) ? undefined : absent[type];

/** Device types in order of preference. */
export const llamaDeviceTypes: readonly LlamaDeviceType[] = [
  {
    name: "cuda",
    gpu: "cuda",
    platforms: ["linux", "win32"],
    devices: one("cuda"),
    absenceReason: absence("cuda"),
  },
  { name: "metal", gpu: "metal", platforms: ["darwin"], devices: one("metal"), absenceReason: absence("metal") },
  {
    name: "vulkan",
    gpu: "vulkan",
    platforms: ["linux", "win32"],
    devices: one("vulkan"),
    absenceReason: absence("vulkan"),
  },
  { name: "cpu", gpu: false, platforms: ["linux", "win32", "darwin"], devices: one("cpu"), absenceReason: () => undefined },
];

/** The kind of GPU of a device; undefined for a device that llama.cpp does not compute on. */
export function getGpu({ type, index }: Device): LlamaGpu | undefined {
  return index === 0 ? llamaDeviceTypes.find(({ name }) => name === type)?.gpu : undefined;
}
