/** A memory for testing kernels: tensors are laid out one after the other, and what lies behind each is watched. */
import { detectWasmFeatures } from "../../src/engine/codegen/wasm/assembler/features.ts";
import type { WasmFeatures } from "../../src/engine/codegen/wasm/assembler/wasm-features.ts";
import { type WasmMemory, wasmHost, wasmPageBytes } from "../../src/engine/codegen/wasm/assembler/webassembly.ts";
import { compileKernels, kernelFunction } from "../../src/engine/codegen/wasm/compile.ts";
import { type Kernel, readPaddingBytes } from "../../src/engine/codegen/wasm/kernel.ts";
import { enableRelaxedSimd } from "../../src/engine/codegen/wasm/v8-flags.ts";

export const features: WasmFeatures = detectWasmFeatures(enableRelaxedSimd);
/** Both ways kernels can be emitted on this machine. */
export const featureSets: readonly WasmFeatures[] = features.relaxedSimd
  ? [features, { ...features, relaxedSimd: false, byteDot: "none" }]
  : [features];

/** Elements of a tensor. */
export type Numbers =
  | Float32Array
  | Int32Array
  | Int16Array
  | Uint8Array
  | Int8Array
  | BigInt64Array
  | Uint16Array
  | Uint32Array
  | Float64Array;
type NumbersOf<Kind extends Numbers> = new (buffer: ArrayBuffer, offset: number, length: number) => Kind;

export class KernelMemory {
  readonly memory: WasmMemory;
  #end = 64;
  readonly #guards: { readonly start: number; readonly end: number }[] = [];

  constructor(bytes: number = 4 * 1024 * 1024) {
    this.memory = new (wasmHost().Memory)({ initial: Math.ceil(bytes / wasmPageBytes) });
    new Uint8Array(this.memory.buffer).fill(0xff); // as float32: NaN, which nobody fails to notice
  }

  /** Offset and view of a tensor that holds these values. */
  put<Kind extends Numbers>(values: Kind): { readonly offset: number; readonly data: Kind } {
    const made = this.room(values.constructor as NumbersOf<Kind>, values.length);
    (made.data as unknown as Float32Array).set(values as unknown as Float32Array);
    return made;
  }

  /** Offset and view of a tensor that nobody wrote yet. */
  room<Kind extends Numbers>(kind: NumbersOf<Kind>, length: number): { readonly offset: number; readonly data: Kind } {
    const offset = this.#end;
    const data = new kind(this.memory.buffer as ArrayBuffer, offset, length);
    const end = offset + data.byteLength;
    this.#end = Math.ceil((end + readPaddingBytes) / 16) * 16;
    if (this.#end > this.memory.buffer.byteLength) throw new Error("the test's memory is too small");
    this.#guards.push({ start: end, end: this.#end });
    return { offset, data };
  }

  /** The same in the last bytes of the memory, followed by those alone that kernels may read. One tensor of a memory lies there. */
  roomAtEnd<Kind extends Numbers>(kind: NumbersOf<Kind>, length: number): { readonly offset: number; readonly data: Kind } {
    const { byteLength } = new kind(new ArrayBuffer(8 * length), 0, length);
    const padded = Math.ceil((byteLength + readPaddingBytes) / 16) * 16;
    const offset = this.memory.buffer.byteLength - padded;
    if (offset < this.#end) throw new Error("the test's memory is too small");
    this.#guards.push({ start: offset + byteLength, end: offset + padded });
    return { offset, data: new kind(this.memory.buffer as ArrayBuffer, offset, length) };
  }

  /** A tensor at the end of the memory that holds these values: see `roomAtEnd`. */
  putAtEnd<Kind extends Numbers>(values: Kind): { readonly offset: number; readonly data: Kind } {
    const made = this.roomAtEnd(values.constructor as NumbersOf<Kind>, values.length);
    (made.data as unknown as Float32Array).set(values as unknown as Float32Array);
    return made;
  }

  /** Runs a kernel in as many calls as `splits` asks for, from the last to the first, and checks that nothing behind a tensor was written. */
  run(kernel: Kernel, offsets: readonly number[], splits = 1, set: WasmFeatures = features): number {
    const compiled = kernelFunction(compileKernels([kernel], this.memory, set).functions, kernel);
    if (offsets.length !== kernel.parameters.length) throw new Error(`${kernel.key} takes ${kernel.parameters.join()}`);
    let status = 0;
    const share = Math.ceil(kernel.pieces / splits);
    for (let from = (splits - 1) * share; from >= 0; from -= share)
      if (from < kernel.pieces)
        status = compiled(...kernel.dynamicSizes, ...offsets, from, Math.min(from + share, kernel.pieces)) || status;
    this.checkGuards(kernel.key);
    return status;
  }

  /** Throws if a byte behind a tensor was written. */
  checkGuards(key: string): void {
    const bytes = new Uint8Array(this.memory.buffer);
    for (const { start, end } of this.#guards)
      if (bytes.subarray(start, end).some((byte) => byte !== 0xff)) throw new Error(`${key} wrote behind a tensor`);
  }
}

/** Numbers between -1 and 1, the same for the same seed. */
export function randomFloats(length: number, seed: number, scale = 1): Float32Array {
  return Float32Array.from(randomNumbers(length, seed), (value) => (value * 2 - 1) * scale);
}

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function randomNumbers(length: number, seed: number): Float64Array {
  let state = seed | 0;
  return Float64Array.from({ length }, () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  });
}

/** The largest difference, relative to the larger of the expected value and `floor`. */
export function largestError(actual: Float32Array, expected: ArrayLike<number>, floor = 1): number {
  let largest = 0;
  actual.forEach((value, index) => {
    const wanted = expected[index] ?? Number.NaN;
    if (Object.is(value, wanted) || value === wanted) return;
    const error = Math.abs(value - wanted) / Math.max(Math.abs(wanted), floor);
    largest = Number.isNaN(error) ? Number.POSITIVE_INFINITY : Math.max(largest, error);
  });
  return largest;
}
