/** The memory budget of a runtime: limits, estimates, and whether one more model fits. Pure functions. */
import type { Backend, Capabilities, Device, DeviceType, LoadedModel } from "../../contract/backend.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { HostName } from "../../hosts/host-name.ts";
import type { Requirements, Variant } from "../../models/manifest.ts";
import type { MemoryBudgetSettings } from "../options/runtime-settings.ts";
import { parseSize } from "../options/size.ts";
import { isDeviceType } from "../targets/known-names.ts";
import { type Target, deviceWords, parseDevice } from "../targets/target.ts";
import { weightBytes } from "./variant-selection.ts";
import { nearestName } from "../../models/validation/nearest-name.ts";

/**
 * Bytes by memory pool. The pool "memory" is the machine's main memory; a device's own memory is named as in a target, for
 * example "cuda:0".
 */
export type MemoryAmounts = Readonly<Record<string, number>>;

/** Name of the pool of the machine's main memory. */
export const machineMemory = "memory";

/** The parsed memory budget. */
export interface MemoryLimits {
  readonly bytes: MemoryAmounts;
  /** Maximum number of models; Infinity for no limit. */
  readonly models: number;
}

/**
 * Parses the budget settings. Undefined if nothing is limited. `backends`: the backends of the runtime, which may compute on devices with names of their own.
 * Throws CONFIG_INVALID for a malformed size, and for a name in `maxDeviceMemory` that is not a device, is the CPU, or denotes the same device as an earlier
 * name.
 */
export function parseMemoryLimits(
  { maxMemory, maxDeviceMemory, maxLoadedModels }: MemoryBudgetSettings,
  backends: readonly Pick<Backend, "name" | "capabilities">[] = [],
): MemoryLimits | undefined {
  const bytes: Record<string, number> = maxMemory === undefined ? {} : { [machineMemory]: parseSize(maxMemory) };
  for (const [name, size] of Object.entries(maxDeviceMemory ?? {})) {
    const pool = poolOfDevice(limitedDevice(name, backends));
    if (bytes[pool] !== undefined)
      throw invalidDevice(name, `is the device ${pool}, which has a limit already`, "name each device once");
    bytes[pool] = parseSize(size);
  }
  if (Object.keys(bytes).length === 0 && maxLoadedModels === undefined) return undefined;
  return { bytes, models: maxLoadedModels ?? Number.POSITIVE_INFINITY };
}

/** The device that `maxDeviceMemory` names. It need not be on this machine: one settings file may serve several. */
function limitedDevice(name: string, backends: readonly Pick<Backend, "name" | "capabilities">[]): Device {
  const device = parseDevice(name);
  if (device?.type === "cpu")
    throw invalidDevice(name, "has no memory of its own", "set maxMemory for the memory of the machine");
  if (device !== undefined && isDeviceType(device, backends)) return device;
  const types = [...deviceWords].filter((word) => word !== "cpu");
  const guess = nearestName(name.replace(/:.*/, ""), types);
  throw invalidDevice(
    name,
    "is not a device",
    guess === undefined ? `write a device such as cuda:0; the types are ${types.join(", ")}` : `did you mean "${guess}"?`,
  );
}

function invalidDevice(name: string, problem: string, remedy: string): InferyardError {
  return new InferyardError("CONFIG_INVALID", `maxDeviceMemory names "${name}", which ${problem}`, { remedy });
}

/** The type of the device whose memory a device uses: TensorRT computes on the devices of CUDA. */
export function memoryDeviceType(type: DeviceType): DeviceType {
  return type === "tensorrt" ? "cuda" : type;
}

/** The memory pool of a device, always with its index: "cuda:0". */
function poolOfDevice({ type, index }: Device): string {
  return `${memoryDeviceType(type)}:${index}`;
}

/** Bytes of an empty Node.js process and its watchdog thread (measured with Node.js 20 on x64 Linux: 46 and 8 MB). */
const processBytes = 54e6;

/**
 * Estimates the memory of a model before it is loaded: the requirement that its manifest states, or else the engine's footprint
 * (see `Capabilities.footprint`), plus a process if it gets one. On an accelerator, the weights are counted in the device's
 * memory as well.
 */
export function estimateMemory(
  target: Target,
  variant: Pick<Variant, "bytes" | "packing">,
  requirements: Requirements,
  capabilities: Capabilities,
  host: HostName,
): MemoryAmounts {
  const { bytes = 0, perWeightByte = 1 } = capabilities.footprint ?? {};
  const engine = requirements.memoryBytes ?? Math.ceil(bytes + weightBytes(variant) * perWeightByte);
  const memory = engine + (host === "process" ? processBytes : 0);
  if (target.device.type === "cpu") return { [machineMemory]: memory };
  return { [machineMemory]: memory, [poolOfDevice(target.device)]: requirements.deviceMemoryBytes ?? weightBytes(variant) };
}

/**
 * Factor applied to the estimate of a first load. Engines unpack some weights, which no file states (measured: an int8 model
 * took 1.5 times its estimate).
 */
const firstLoadMargin = 1.5;

/** Booking for a model that was never measured: the estimate times a margin, but at most the memory that the `staying` bookings leave. */
export function initialBooking(need: MemoryAmounts, limits: MemoryLimits, staying: readonly MemoryAmounts[]): MemoryAmounts {
  return Object.fromEntries(
    Object.entries(need).map(([pool, bytes]) => {
      const limit = limits.bytes[pool] ?? Number.POSITIVE_INFINITY;
      const left = limit - staying.reduce((sum, amounts) => sum + (amounts[pool] ?? 0), 0);
      return [pool, Math.max(bytes, Math.min(bytes * firstLoadMargin, left))];
    }),
  );
}

/** Memory that a loaded model holds: the measured amount if main memory was measured, else the estimate `need`. */
export function heldMemory(memory: LoadedModel["memory"], need: MemoryAmounts): MemoryAmounts {
  const onDevice = Object.keys(need).length > 1;
  const measured = memory.measure === "resident" || (memory.measure === "allocated" && !onDevice);
  return measured ? { ...need, [machineMemory]: memory.bytes } : need;
}

/** A memory pool that lacks memory. All amounts are bytes; `left` is the limit minus the other bookings. */
export interface MemoryShortage {
  readonly pool: string;
  readonly need: number;
  readonly limit: number;
  readonly left: number;
}

/** The first pool in which `need` does not fit together with `held`. Undefined if it fits in all. */
export function findShortage(
  limits: MemoryLimits,
  held: readonly MemoryAmounts[],
  need: MemoryAmounts,
): MemoryShortage | undefined {
  for (const [pool, limit] of Object.entries(limits.bytes)) {
    const wanted = need[pool] ?? 0;
    const left = limit - held.reduce((sum, amounts) => sum + (amounts[pool] ?? 0), 0);
    if (wanted > 0 && wanted > left) return { pool, need: wanted, limit, left: Math.max(left, 0) };
  }
  return undefined;
}

/** The sum of two amounts, pool by pool. */
export function addAmounts(a: MemoryAmounts, b: MemoryAmounts): MemoryAmounts {
  const sum: Record<string, number> = { ...a };
  for (const [pool, bytes] of Object.entries(b)) sum[pool] = (sum[pool] ?? 0) + bytes;
  return sum;
}

/** An amount of bytes for messages: "1234 MB", rounded up. */
export function formatMegabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}
