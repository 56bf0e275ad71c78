/** How fast kernels are on one thread: what sharing has to beat. */
import type { KernelCall } from "../codegen/wasm/kernel.ts";

/** Calls that were held up by others say little; of so many one was hardly. */
const minCalls = 3;
/** A slower call makes the estimate slower by this much: machines are not always as fast as they were once. */
const decay = 1.05;

interface Timing {
  readonly calls: number;
  /** Milliseconds by nanoseconds that the kernel states: the least of late. */
  readonly rate: number;
}

export class KernelTimings {
  readonly #timings = new Map<string, Timing>();

  /** Whether it was computed alone often enough. */
  isMeasured({ key }: KernelCall): boolean {
    return (this.#timings.get(key)?.calls ?? 0) >= minCalls;
  }

  /** A call was computed alone. */
  record(kernel: KernelCall, milliseconds: number): void {
    if (kernel.pieces === 0) return; // of an empty tensor
    const { calls, rate } = this.#timings.get(kernel.key) ?? { calls: 0, rate: Number.POSITIVE_INFINITY };
    this.#timings.set(kernel.key, {
      calls: calls + 1,
      rate: Math.min(rate * decay, milliseconds / estimatedNanoseconds(kernel)),
    });
  }

  /** What a call takes alone where nothing holds it up, of a kernel that is known. */
  milliseconds(kernel: KernelCall): number {
    return (this.#timings.get(kernel.key)?.rate ?? 0) * estimatedNanoseconds(kernel);
  }
}

function estimatedNanoseconds({ pieces, pieceNanoseconds }: KernelCall): number {
  return pieces * pieceNanoseconds;
}
