/** Scratch memory of kernels under check, apart from everything else: what lies after it must not change, and what was in it before must not matter. */
import type { Kernel, KernelCall } from "../../codegen/wasm/index.ts";
import { toLiteral } from "../../ir/literal.ts";
import type { EngineMemory } from "../../memory/engine-memory.ts";

/** Bytes after the scratch memory that no kernel may write. */
const guardBytes = 256;
const filling = 0xff; // NaN as float32, -1 as integer

/** A region of the memory that all kernels of a check use as scratch, one after the other. */
export class GuardedScratch {
  readonly #memory: EngineMemory;
  readonly #start: number;
  /** Keys of kernels that have machine code as well, whose scratch memory is that of the function that needs more. */
  readonly #withMachineCode: ReadonlySet<string>;

  /** Takes what the kernels need from the memory. */
  constructor(memory: EngineMemory, kernels: readonly Pick<Kernel, "key" | "scratchBytes" | "machine">[]) {
    this.#memory = memory;
    this.#withMachineCode = new Set(kernels.flatMap(({ key, machine }) => (machine === undefined ? [] : [key])));
    const bytes = Math.max(0, ...kernels.map(({ scratchBytes }) => scratchBytes)) + guardBytes;
    this.#start = memory.pack({ source: toLiteral("uint8", [0], []), layout: "scratch", bytes, packStored: () => {} }, false);
  }

  /** The offsets of a call, with the offset of the guarded scratch memory. */
  place({ dynamicSizes, parameters, scratchBytes }: KernelCall, offsets: readonly number[]): readonly number[] {
    return scratchBytes > 0 ? offsets.with(dynamicSizes.length + parameters.length - 1, this.#start) : offsets;
  }

  /** Runs a kernel. Throws if it writes after its scratch memory. */
  guard({ key, scratchBytes, family }: Pick<KernelCall, "key" | "scratchBytes" | "family">, run: () => number): number {
    if (scratchBytes === 0) return run();
    const bytes = new Uint8Array(this.#memory.memory.buffer, this.#start, scratchBytes + guardBytes).fill(filling);
    const status = run();
    if (bytes.subarray(scratchBytes).some((byte) => byte !== filling))
      throw new Error(`${family} writes behind its ${scratchBytes} bytes of scratch memory`);
    const used = bytes.findLastIndex((byte) => byte !== filling) + 1;
    if (used > 0 && used < scratchBytes / 2 - guardBytes && !this.#withMachineCode.has(key))
      throw new Error(`${family} uses ${used} of its ${scratchBytes} bytes of scratch memory`);
    return status;
  }
}
