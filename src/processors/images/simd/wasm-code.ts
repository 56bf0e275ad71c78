/** The instructions and the module format of WebAssembly that the kernels of pictures need (WebAssembly specification, chapters "Instructions" and "Modules"). */

/** Bytes of instructions, in nested arrays. */
export type WasmInstructions = readonly (number | WasmInstructions)[];

/** The part of the global `WebAssembly` object that is used. Node.js started with --jitless has none. */
interface WasmHost {
  validate(bytes: Uint8Array): boolean;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Readonly<Record<string, unknown>> };
}

/** The memory of a module. */
export interface KernelMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** A module with its own memory. */
export interface WasmKernels {
  readonly memory: KernelMemory;
  /** Exported functions of 32-bit integers, by name. */
  readonly functions: Readonly<Record<string, (...values: number[]) => void>>;
}

/** A function of 32-bit integers without a result. */
export interface WasmFunction {
  readonly name: string;
  readonly parameters: number;
  /** Number of locals of type i32, and after them of type v128, behind the parameters. */
  readonly integers: number;
  readonly vectors: number;
  readonly body: WasmInstructions;
}

/** LEB128: seven bits a byte, the lowest first. */
function unsigned(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
}

function signed(value: number): number[] {
  return value >= -64 && value < 64 ? [value & 127] : [(value & 127) | 128, ...signed(value >> 7)];
}

const vectorPrefix = 0xfd;
const vector = (operation: number, ...operands: WasmInstructions): WasmInstructions => [
  operands,
  vectorPrefix,
  unsigned(operation),
];
/** No promise about the alignment of an address. */
const memoryOperand = (offset: number): WasmInstructions => [0, unsigned(offset)];

export const local = (index: number): WasmInstructions => [0x20, unsigned(index)];
export const set = (index: number, value: WasmInstructions): WasmInstructions => [value, 0x21, unsigned(index)];
export const constant = (value: number): WasmInstructions => [0x41, signed(value)];
export const add = (left: WasmInstructions, right: WasmInstructions): WasmInstructions => [left, right, 0x6a];
export const subtract = (left: WasmInstructions, right: WasmInstructions): WasmInstructions => [left, right, 0x6b];
export const increase = (index: number, by: WasmInstructions): WasmInstructions => set(index, add(local(index), by));
export const loadInteger = (address: WasmInstructions): WasmInstructions => [address, 0x28, memoryOperand(0)];
/** Runs `body` until `count` is 0; it is decreased by `step` after each time, and is positive at first. */
export const countDown = (count: number, step: number, body: WasmInstructions): WasmInstructions => [
  [0x03, 0x40, body, set(count, subtract(local(count), constant(step))), local(count), constant(0), 0x4a, 0x0d, 0],
  0x0b,
];

export const loadBytes = (address: WasmInstructions): WasmInstructions => [vector(0x00, address), memoryOperand(0)];
export const storeVector = (address: WasmInstructions, value: WasmInstructions): WasmInstructions => [
  vector(0x0b, address, value),
  memoryOperand(0),
];
/** Stores the first 32 bits of a vector. */
export const storeFirst = (address: WasmInstructions, value: WasmInstructions): WasmInstructions => [
  vector(0x5a, address, value),
  memoryOperand(0),
  0,
];
/** Four times the 32 bits at an address. */
export const loadSplat = (address: WasmInstructions, offset: number): WasmInstructions => [
  vector(0x09, address),
  memoryOperand(offset),
];
export const splat = (value: WasmInstructions): WasmInstructions => vector(0x11, value);
export const zeroVector: WasmInstructions = [vectorPrefix, 0x0c, Array.from({ length: 16 }, () => 0)];
/** Bytes of two vectors by their index from 0 to 31. */
export const shuffle = (left: WasmInstructions, right: WasmInstructions, indices: readonly number[]): WasmInstructions => [
  vector(0x0d, left, right),
  indices,
];
/** Bytes 0 to 7, or 8 to 15, as unsigned 16-bit integers. */
export const widenLow = (value: WasmInstructions): WasmInstructions => vector(0x89, value);
export const widenHigh = (value: WasmInstructions): WasmInstructions => vector(0x8a, value);
/** Products of signed 16-bit integers, added by pairs to 32 bits. */
export const dotPairs = (left: WasmInstructions, right: WasmInstructions): WasmInstructions => vector(0xba, left, right);
export const addVectors = (left: WasmInstructions, right: WasmInstructions): WasmInstructions => vector(0xae, left, right);
export const shiftLeft = (value: WasmInstructions, bits: WasmInstructions): WasmInstructions => vector(0xab, value, bits);
export const shiftRight = (value: WasmInstructions, bits: WasmInstructions): WasmInstructions => vector(0xac, value, bits);
/** 32-bit to signed 16-bit integers, and these to bytes, each limited to the range. */
export const narrowToShorts = (low: WasmInstructions, high: WasmInstructions): WasmInstructions => vector(0x85, low, high);
export const narrowToBytes = (low: WasmInstructions, high: WasmInstructions): WasmInstructions => vector(0x66, low, high);

const [integerType, vectorType] = [0x7f, 0x7b];
const header: WasmInstructions = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

function flatten(code: WasmInstructions): number[] {
  return code.flatMap((part) => (typeof part === "number" ? part : flatten(part)));
}

function sized(code: WasmInstructions): WasmInstructions {
  const bytes = flatten(code);
  return [unsigned(bytes.length), bytes];
}

function list(items: readonly WasmInstructions[]): WasmInstructions {
  return [unsigned(items.length), items];
}

function section(id: number, items: readonly WasmInstructions[]): WasmInstructions {
  return [id, sized(list(items))];
}

function exported(name: string, kind: number, index: number): WasmInstructions {
  return [sized([...new TextEncoder().encode(name)]), kind, unsigned(index)];
}

/** Compiles functions to a module with a memory of one page. Undefined where the host has no WebAssembly, or none with vectors. */
export function compilePictureKernels(functions: readonly WasmFunction[]): WasmKernels | undefined {
  const host = (globalThis as { readonly WebAssembly?: WasmHost }).WebAssembly;
  const bytes = new Uint8Array(
    flatten([
      header,
      section(
        1,
        functions.map(({ parameters }): WasmInstructions => [
          0x60,
          list(Array.from({ length: parameters }, () => [integerType])),
          0,
        ]),
      ),
      section(
        3,
        functions.map((_, index) => unsigned(index)),
      ),
      section(5, [[0, 1]]),
      section(7, [exported("memory", 2, 0), ...functions.map(({ name }, index) => exported(name, 0, index))]),
      section(
        10,
        functions.map(({ integers, vectors, body }) => {
          const locals = list([
            [unsigned(integers), integerType],
            [unsigned(vectors), vectorType],
          ]);
          return sized([locals, body, 0x0b]);
        }),
      ),
    ]),
  );
  if (host?.validate(bytes) !== true) return undefined;
  const { memory, ...others } = new host.Instance(new host.Module(bytes)).exports;
  return { memory: memory as KernelMemory, functions: others as WasmKernels["functions"] };
}
