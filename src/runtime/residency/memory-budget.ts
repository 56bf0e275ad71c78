/** How much memory the models of a runtime may take together, and whether one more fits. Pure: numbers in, a verdict out. */
import type { Capabilities, LoadedModel } from "../../backend.ts";
import type { HostName } from "../../hosts/host.ts";
import type { Requirements, Variant } from "../../models/manifest.ts";
import { parseSize } from "../options/size.ts";
import { type Target, formatDevice } from "../selection/target.ts";

/** Bytes by place. "memory" is that of the machine; a device's own is named as in a target, for example "cuda:0". */
export type MemoryAmounts = Readonly<Record<string, number>>;

export const machineMemory = "memory";

export interface MemoryBudgetSettings {
  /** Most memory of the machine that all models may take together: bytes, or "2GB". Default: no limit. */
  readonly maxMemory?: number | string;
  /** The same for the memory of devices, by their names, for example { "cuda:0": "8GB" }. */
  readonly maxDeviceMemory?: Readonly<Record<string, number | string>>;
  /** Most models in memory at once, copies for bulk work not counted. Default: no limit. */
  readonly maxLoadedModels?: number;
}

export interface MemoryLimits {
  readonly bytes: MemoryAmounts;
  /** Infinity where there is no limit. */
  readonly models: number;
}

/** Undefined where nothing is limited. */
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

/** "cuda" is the first one: "cuda:0". */
function canonicalDevice(device: string): string {
  return device.includes(":") ? device : `${device}:0`;
}

/** A bare Node.js process with the thread that watches its parent (measured: Node.js 20, x64 Linux: 46 and 8 MB). */
const processBytes = 54e6;

/**
 * What a model will take before it is loaded: what its author says it needs, else the weights and the engine's own share (see
 * `Capabilities.footprint`), and a process where it gets one. On a device, the weights count there as well.
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

/** "cuda:0", also for a single device of its kind. */
function deviceMemoryPool({ device }: Target): string {
  return canonicalDevice(formatDevice(device));
}

/** Engines unpack some weights to several times their size, which no file says (measured: an int8 model took 1.5 times its estimate). */
const firstLoadMargin = 1.5;

/** What is booked for a model that was never loaded here: more than the estimate, but no more than could fit beside those that stay. */
export function initialBooking(need: MemoryAmounts, limits: MemoryLimits, staying: readonly MemoryAmounts[]): MemoryAmounts {
  return Object.fromEntries(
    Object.entries(need).map(([place, bytes]) => {
      const limit = limits.bytes[place] ?? Number.POSITIVE_INFINITY;
      const left = limit - staying.reduce((sum, amounts) => sum + (amounts[place] ?? 0), 0);
      return [place, Math.max(bytes, Math.min(bytes * firstLoadMargin, left))];
    }),
  );
}

/** What a loaded model holds: measured where that is the machine's memory and somebody measured it, else what was estimated. */
export function heldMemory(memory: LoadedModel["memory"], need: MemoryAmounts): MemoryAmounts {
  const onDevice = Object.keys(need).length > 1;
  const measured = memory.measure === "resident" || (memory.measure === "allocated" && !onDevice);
  return measured ? { ...need, [machineMemory]: memory.bytes } : need;
}

/** A place where something does not fit. */
export interface MemoryShortage {
  readonly pool: string;
  readonly need: number;
  readonly limit: number;
  readonly left: number;
}

/** The first place where `need` does not fit beside what others hold; undefined when it fits everywhere. */
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

/** The sum of two. */
export function addAmounts(a: MemoryAmounts, b: MemoryAmounts): MemoryAmounts {
  const sum: Record<string, number> = { ...a };
  for (const [place, bytes] of Object.entries(b)) sum[place] = (sum[place] ?? 0) + bytes;
  return sum;
}
