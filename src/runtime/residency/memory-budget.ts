/** The memory budget of a runtime: limits, estimates, and whether one more model fits. Pure functions. */
import type { Capabilities, LoadedModel } from "../../backend.ts";
import type { HostName } from "../../hosts/host.ts";
import type { Requirements, Variant } from "../../models/manifest.ts";
import { parseSize } from "../options/size.ts";
import { type Target, formatDevice } from "../selection/target.ts";

/**
 * Bytes by memory pool. The pool "memory" is the machine's main memory; a device's own memory is named as in a target, for
 * example "cuda:0".
 */
export type MemoryAmounts = Readonly<Record<string, number>>;

/** Name of the pool of the machine's main memory. */
export const machineMemory = "memory";

/** Settings of the memory budget of a runtime. */
export interface MemoryBudgetSettings {
  /** Maximum main memory of all models together: bytes, or a size such as "2GB". Default: no limit. */
  readonly maxMemory?: number | string;
  /** Maximum memory of all models on each device, by device name, for example { "cuda:0": "8GB" }. Default: no limit. */
  readonly maxDeviceMemory?: Readonly<Record<string, number | string>>;
  /** Maximum number of models in memory; replicas for bulk work are not counted. Default: no limit. */
  readonly maxLoadedModels?: number;
}

/** The parsed memory budget. */
export interface MemoryLimits {
  readonly bytes: MemoryAmounts;
  /** Maximum number of models; Infinity for no limit. */
  readonly models: number;
}

/** Parses the budget settings. Undefined if nothing is limited. Throws CONFIG_INVALID for a malformed size. */
export function parseMemoryLimits({
  maxMemory,
  maxDeviceMemory,
  maxLoadedModels,
}: MemoryBudgetSettings): MemoryLimits | undefined {
  const devices = Object.entries(maxDeviceMemory ?? {}).map(
    ([device, size]) => [canonicalDevice(device), parseSize(size)] as const,
  );
  const bytes = Object.fromEntries([
    ...(maxMemory === undefined ? [] : [[machineMemory, parseSize(maxMemory)] as const]),
    ...devices,
  ]);
  if (Object.keys(bytes).length === 0 && maxLoadedModels === undefined) return undefined;
  return { bytes, models: maxLoadedModels ?? Number.POSITIVE_INFINITY };
}

/** Adds the index 0 to a device name that has none: "cuda" becomes "cuda:0". */
function canonicalDevice(device: string): string {
  return device.includes(":") ? device : `${device}:0`;
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
  variant: Pick<Variant, "bytes">,
  requirements: Requirements,
  capabilities: Capabilities,
  host: HostName,
): MemoryAmounts {
  const { bytes = 0, perWeightByte = 1 } = capabilities.footprint ?? {};
  const engine = requirements.memoryBytes ?? Math.ceil(bytes + variant.bytes * perWeightByte);
  const memory = engine + (host === "process" ? processBytes : 0);
  if (target.device.type === "cpu") return { [machineMemory]: memory };
  return { [machineMemory]: memory, [deviceMemoryPool(target)]: requirements.deviceMemoryBytes ?? variant.bytes };
}

/** The memory pool of a target's device, always with its index. */
function deviceMemoryPool({ device }: Target): string {
  return canonicalDevice(formatDevice(device));
}

/**
 * Factor applied to the estimate of a first load. Engines unpack some weights, which no file states (measured: an int8 model
 * took 1.5 times its estimate).
 */
const firstLoadMargin = 1.5;

/**
 * What is booked for a model that was never measured: the estimate times a margin, but no more than the `staying` bookings
 * leave.
 */
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

/** A memory pool that lacks memory. All amounts are bytes; `left` is what other bookings leave of the limit. */
export interface MemoryShortage {
  readonly pool: string;
  readonly need: number;
  readonly limit: number;
  readonly left: number;
}

/** The first pool in which `need` does not fit beside what is `held`. Undefined if it fits in all. */
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
