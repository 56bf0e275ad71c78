/** How fast kernels are on one thread: what sharing has to beat. */
import type { KernelCall } from "../codegen/wasm/kernel.ts";

/** Calls that were held up by others say little; of so many one was hardly. */
const fewestCalls = 3;
/** A slower call makes the estimate slower by this much: machines are not always as fast as they were once. */
const forgetting = 1.05;

interface Speed {
  readonly calls: number;
  /** Milliseconds by nanoseconds that the kernel states: the least of late. */
  readonly rate: number;
}

export class KernelSpeeds {
  readonly #speeds = new Map<string, Speed>();

  /** Whether it was computed alone often enough. */
  knows({ key }: KernelCall): boolean {
    return (this.#speeds.get(key)?.calls ?? 0) >= fewestCalls;
  }

  /** A call was computed alone. */
  add(kernel: KernelCall, milliseconds: number): void {
    if (kernel.pieces === 0) return; // of an empty tensor
    const { calls, rate } = this.#speeds.get(kernel.key) ?? { calls: 0, rate: Number.POSITIVE_INFINITY };
    this.#speeds.set(kernel.key, {
      calls: calls + 1,
      rate: Math.min(rate * forgetting, milliseconds / statedNanoseconds(kernel)),
    });
  }

  /** What a call takes alone where nothing holds it up, of a kernel that is known. */
  milliseconds(kernel: KernelCall): number {
    return (this.#speeds.get(kernel.key)?.rate ?? 0) * statedNanoseconds(kernel);
  }
}

function statedNanoseconds({ pieces, pieceNanoseconds }: KernelCall): number {
  return pieces * pieceNanoseconds;
}
