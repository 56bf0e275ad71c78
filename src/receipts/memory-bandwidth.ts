/** Measures how fast one thread of this machine moves memory, and states what no machine exceeds. */
import type { MemoryBandwidth, Receipt } from "./receipt.ts";

const mebibyte = 1024 * 1024;
/** Larger than the share of the last-level cache that one core has. */
const memoryBytes = 64 * mebibyte;
/** Half of the first-level cache of small processors. */
const cacheBytes = 16 * 1024;
const minMilliseconds = 20;

/** Copies memory for some 0.1 s, and takes the fastest of several passes. */
export function measureBandwidth(): MemoryBandwidth {
  return { memory: copyRate(memoryBytes, 1), cache: copyRate(cacheBytes, 1000) };
}

/** Bytes read and written per second. The copy is memmove of the C library, which uses the widest loads of the processor. */
function copyRate(bytes: number, repeats: number): number {
  const source = new Uint8Array(bytes).fill(1);
  const target = new Uint8Array(bytes).fill(2); // touches every page, so that no pass pays for the kernel's zeroing
  let fastest = Number.POSITIVE_INFINITY;
  const ends = performance.now() + minMilliseconds;
  do {
    const started = performance.now();
    for (let repeat = 0; repeat < repeats; repeat += 1) target.set(source);
    fastest = Math.min(fastest, performance.now() - started);
  } while (performance.now() < ends);
  return Math.round((2 * bytes * repeats * 1000) / Math.max(fastest, 0.001));
}

/** Bytes per second that no machine of this kind reads weights with. */
export interface BandwidthBound {
  readonly bytesPerSecond: number;
  /** Where the number comes from, as a part of a sentence. */
  readonly reason: string;
}

/** Weights of at least this size are in no cache: the largest last-level cache of one socket has 1.1 GiB (AMD EPYC 9684X). */
const uncachedBytes = 4 * 1024 * mebibyte;
/** Two sockets of twelve channels of DDR5-8800 have 1.7 TB/s. */
const absoluteMemory = 2e12;
/** Two loads of 64 bytes in each cycle, at 4 GHz. */
const absoluteCacheOfCore = 512e9;
/** The fastest accelerators of 2026 have 8 to 13 TB/s. */
const absoluteAccelerator = 20e12;
/** All cores together against a copy by one of them: reading needs no writes, and one core does not use all channels. */
const readFactor = 4;

/** The smallest bound that applies to reading this many bytes of weights for each token. */
export function bandwidthBound({ machine, decision }: Receipt, weightBytes: number): BandwidthBound {
  const device = decision.selected?.device ?? "cpu";
  if (!device.startsWith("cpu")) return { bytesPerSecond: absoluteAccelerator, reason: "no accelerator has more than 20 TB/s" };
  const { cores, bandwidth } = machine;
  const bounds: BandwidthBound[] = [
    { bytesPerSecond: cores * absoluteCacheOfCore, reason: `${cores} cores read at most 512 GB/s each from their caches` },
    {
      bytesPerSecond: readFactor * cores * bandwidth.cache,
      reason: `one core of it copied ${gigabytes(bandwidth.cache)} within its cache, and ${cores} cores read at most ${readFactor} times as much each`,
    },
  ];
  if (weightBytes >= uncachedBytes) {
    bounds.push(
      { bytesPerSecond: absoluteMemory, reason: "no machine reads its memory with more than 2 TB/s" },
      {
        bytesPerSecond: readFactor * cores * bandwidth.memory,
        reason: `one core of it copied ${gigabytes(bandwidth.memory)} in memory, and ${cores} cores read at most ${readFactor} times as much each`,
      },
    );
  }
  return bounds.reduce((smallest, each) => (each.bytesPerSecond < smallest.bytesPerSecond ? each : smallest));
}

/** A rate for people. */
export function gigabytes(bytesPerSecond: number): string {
  return `${(bytesPerSecond / 1e9).toPrecision(3)} GB/s`;
}
