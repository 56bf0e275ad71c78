/** What a backend reaches at best on this machine: its roofline (Williams, Waterman and Patterson 2009). */
import { withLazyStorage } from "../../engine/ir/literal.ts";
import type { ResolvedBackend } from "../backends/program-backends.ts";
import { defineProgram } from "../definition/define-program.ts";
import type { ProgramBackend } from "../interface/program-backend.ts";
import { traceProgram } from "../definition/trace-program.ts";

/** Peaks of a backend, measured. */
export interface BackendPeaks {
  /** Floating-point operations each second, in units of 1e9, of a product of matrices of 1024 x 1024. */
  readonly gigaflops: number;
  /** Bytes read each second, in units of 1e9, where one row is multiplied by a matrix that exceeds the caches. */
  readonly gigabytesPerSecond: number;
  /** Bytes of the last level of cache, as the device tells; 0 if it does not. What fits into it need not come from memory in each run. */
  readonly cacheBytes: number;
}

/** What a run of a program does at least. */
export interface ProgramWork {
  /** Floating-point operations of its matrix products. */
  readonly operations: number;
  /** Bytes of its inputs, weights and outputs. */
  readonly bytes: number;
}

/** Rows, inner size and columns of the products that are measured. */
const dense = [1024, 1024, 1024] as const;
const stream = [1, 4096, 4096] as const;
const runs = 7;

/** Peaks by backend and qualifier: they are measured once. */
const measured = new WeakMap<ProgramBackend, Map<string, BackendPeaks>>();

/** The peaks of a backend, measured at the first call. Throws what the backend throws, and ABORTED. */
export async function backendPeaks(resolved: ResolvedBackend, signal: AbortSignal): Promise<BackendPeaks> {
  const { backend, qualifier = "" } = resolved;
  const known = measured.get(backend)?.get(qualifier);
  if (known !== undefined) return known;
  const peaks = await measurePeaks(resolved, signal);
  measured.set(backend, new Map([...(measured.get(backend) ?? []), [qualifier, peaks]]));
  return peaks;
}

/** The peaks, raised to what a program reached: a machine that does other work beside is measured too low. */
export function raisedPeaks(peaks: BackendPeaks, { operations, bytes }: ProgramWork, milliseconds: number): BackendPeaks {
  const reached = bytes > peaks.cacheBytes ? bytes / milliseconds / 1e6 : 0;
  return {
    ...peaks,
    gigaflops: Math.max(peaks.gigaflops, operations / milliseconds / 1e6),
    gigabytesPerSecond: Math.max(peaks.gigabytesPerSecond, reached),
  };
}

async function measurePeaks(backend: ResolvedBackend, signal: AbortSignal): Promise<BackendPeaks> {
  const product = await fastestProduct(backend, dense, signal);
  const sweep = await fastestProduct(backend, stream, signal);
  return {
    gigaflops: (2 * dense[0] * dense[1] * dense[2]) / product.milliseconds / 1e6,
    gigabytesPerSecond: (4 * stream[1] * stream[2]) / sweep.milliseconds / 1e6,
    cacheBytes: sweep.cacheBytes,
  };
}

/** Milliseconds that a program takes at least: its products at the peak rate, or its bytes from memory if they exceed the caches, whichever takes longer. */
export function rooflineMs(
  { gigaflops, gigabytesPerSecond, cacheBytes }: BackendPeaks,
  { operations, bytes }: ProgramWork,
): number {
  return Math.max(operations / gigaflops, bytes > cacheBytes ? bytes / gigabytesPerSecond : 0) / 1e6;
}

/** Milliseconds of the fastest run, and what the device tells of its cache. */
async function fastestProduct(
  { backend, qualifier }: ResolvedBackend,
  [rows, inner, columns]: readonly [number, number, number],
  signal: AbortSignal,
): Promise<{ readonly milliseconds: number; readonly cacheBytes: number }> {
  const program = defineProgram(({ input, weight, matmul }) => ({
    y: matmul(input("x", [rows, inner]), weight("w", [inner, columns])),
  }));
  const data = new Float32Array(inner * columns).fill(1 / 64);
  const literal = withLazyStorage({ dataType: "float32", shape: [inner, columns], data }, { materialize: () => data });
  const device = await backend.open({ qualifier, mode: "latency", weights: [literal] });
  try {
    const settings = { sizes: new Map(), weights: new Map([["w", literal]]), backend: backend.name, fold: device.fold };
    const { graph, budget } = traceProgram(program, program.open(), settings);
    const compiled = await device.compile(graph, { budget });
    const x = device.allocate({ dataType: "float32", shape: [rows, inner] });
    device.copyToDevice({ dataType: "float32", shape: [rows, inner], data: new Float32Array(rows * inner).fill(1) }, x);
    let best = Number.POSITIVE_INFINITY;
    for (let run = 0; run <= runs; run += 1) {
      signal.throwIfAborted();
      const start = performance.now();
      const results = await compiled.run(new Map([["x", x]]), signal);
      await device.synchronize();
      if (run > 0) best = Math.min(best, performance.now() - start);
      for (const buffer of results.values()) device.free(buffer);
    }
    return { milliseconds: best, cacheBytes: device.maxSharedMemory() ?? 0 };
  } finally {
    await device.dispose();
  }
}
