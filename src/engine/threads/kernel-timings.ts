/** Measured durations of kernels on one thread, the baseline against which parallel execution is compared. */
import type { KernelCall } from "../codegen/wasm/kernel.ts";

/** Number of measured calls before an estimate is used. Preemption by the operating system lengthens a call; among this many, usually one was not preempted. */
const minCalls = 3;
/** Factor by which the minimum grows with each slower call, so that the estimate follows a machine that has become slower. */
const decay = 1.05;

interface Timing {
  readonly calls: number;
  /** Measured milliseconds per estimated nanosecond: a decaying minimum. */
  readonly rate: number;
}

/** Timings of kernels by kernel key. Calls of the same compiled function with different sizes share one timing. */
export class KernelTimings {
  readonly #timings = new Map<string, Timing>();

  /** Whether enough calls were measured to estimate the kernel's duration. */
  isMeasured({ key }: KernelCall): boolean {
    return (this.#timings.get(key)?.calls ?? 0) >= minCalls;
  }

  /** Records the duration in milliseconds of a call that ran on one thread. */
  record(kernel: KernelCall, milliseconds: number): void {
    if (kernel.pieces === 0) return; // an empty tensor: nothing was computed
    const { calls, rate } = this.#timings.get(kernel.key) ?? { calls: 0, rate: Number.POSITIVE_INFINITY };
    this.#timings.set(kernel.key, {
      calls: calls + 1,
      rate: Math.min(rate * decay, milliseconds / estimatedNanoseconds(kernel)),
    });
  }

  /** Estimated duration in milliseconds of a kernel call on one thread. The kernel must be measured: see `isMeasured`. */
  milliseconds(kernel: KernelCall): number {
    return (this.#timings.get(kernel.key)?.rate ?? 0) * estimatedNanoseconds(kernel);
  }
}

function estimatedNanoseconds({ pieces, pieceNanoseconds }: KernelCall): number {
  return pieces * pieceNanoseconds;
}
