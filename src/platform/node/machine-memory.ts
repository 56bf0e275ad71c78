/** Processors and memory of this machine. In a browser: src/platform/browser/machine-memory.ts. */
import { readFileSync } from "node:fs";
import { availableParallelism, freemem } from "node:os";

/** Number of processors that this process may use. */
export function processorCount(): number {
  return availableParallelism();
}

/** Bytes of memory that are free. */
export function freeMemoryBytes(): number {
  return freemem();
}

/** Bytes of the last level of cache of the first processor; undefined where the system does not tell. */
export function lastLevelCacheBytes(): number | undefined {
  try {
    const text = readFileSync("/sys/devices/system/cpu/cpu0/cache/index3/size", "latin1");
    const kibibytes = /^(\d+)K$/m.exec(text)?.[1];
    return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
  } catch {
    return undefined;
  }
}

/** The environment of the process, by the names of variables. */
export function environmentVariables(): Readonly<Record<string, string | undefined>> {
  return process.env;
}
