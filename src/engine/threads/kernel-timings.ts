/** Measured durations of kernels on one thread, which parallel execution has to beat. */
import type { KernelCall } from "../codegen/wasm/kernel.ts";

/** Calls before an estimate is used. A call that was preempted takes too long; among this many, one usually was not. */
const minCalls = 3;
/** Factor by which the minimum grows with each slower call, so that the estimate follows a machine that has become slower. */
const decay = 1.05;

interface Timing {
  readonly calls: number;
  /** Measured milliseconds per estimated nanosecond: a decaying minimum. */
  readonly rate: number;
}

/** Timings of kernels by key; calls of the same code with different sizes share one. */
export class KernelTimings {
  readonly #timings = new Map<string, Timing>();

  /** Whether enough calls were measured to estimate the kernel's duration. */
  isMeasured({ key }: KernelCall): boolean {
    return (this.#timings.get(key)?.calls ?? 0) >= minCalls;
  }

  /** Records the duration of a call that ran on one thread. */
  record(kernel: KernelCall, milliseconds: number): void {
    if (kernel.pieces === 0) return; // an empty tensor: nothing was computed
    const { calls, rate } = this.#timings.get(kernel.key) ?? { calls: 0, rate: Number.POSITIVE_INFINITY };
    this.#timings.set(kernel.key, {
      calls: calls + 1,
      rate: Math.min(rate * decay, milliseconds / estimatedNanoseconds(kernel)),
    });
  }

  /** Expected milliseconds of a call on one thread, of a kernel that is measured. */
  milliseconds(kernel: KernelCall): number {
    return (this.#timings.get(kernel.key)?.rate ?? 0) * estimatedNanoseconds(kernel);
  }
}

function estimatedNanoseconds({ pieces, pieceNanoseconds }: KernelCall): number {
  return pieces * pieceNanoseconds;
}
