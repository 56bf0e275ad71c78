/** The text of one program in CUDA C, and what is launched in which order. */
import { InferyardError } from "../../../../contract/errors.ts";
import type { ElementType } from "../../../../engine/ir/element-types.ts";
import type { Value } from "../../../../engine/ir/graph.ts";
import { cType, prelude } from "./c-types.ts";

/** A launch of one kernel. */
export interface Launch {
  readonly kind: "launch";
  readonly kernel: string;
  /** Blocks, on the first axis of the grid alone. */
  readonly blocks: number;
  /** Threads of a block. */
  readonly threads: number;
  /** The tensors whose addresses are the arguments of the kernel. */
  readonly operands: readonly Value[];
}

/** A matrix in a tensor. Offsets and strides are in elements; one of both strides is 1. */
export interface ProductMatrix {
  readonly value: Value;
  readonly offset: number;
  readonly rowStride: number;
  readonly columnStride: number;
  /** Elements from the matrix of one product to that of the next. */
  readonly batchStride: number;
}

/** Products of matrices by cuBLAS: `count` times [rows, inner] and [inner, columns]. */
export interface ProductCall {
  readonly kind: "product";
  readonly dataType: ElementType;
  readonly rows: number;
  readonly inner: number;
  readonly columns: number;
  readonly count: number;
  readonly a: ProductMatrix;
  readonly b: ProductMatrix;
  readonly result: ProductMatrix;
}

/** One step of a run. */
export type DeviceStep = Launch | ProductCall;

/** Threads of a block where threads are independent of one another. */
export const blockThreads = 256;
const maxElements = 2 ** 31 - 1;

/** A parameter of a kernel: a tensor and its name in the code. */
export interface Parameter {
  readonly value: Value;
  readonly name: string;
}

/** Collects kernels and steps. Kernels with the same text are printed once. */
export class ProgramText {
  readonly steps: DeviceStep[] = [];
  /** Whether products may be calls of cuBLAS. */
  readonly hasCublas: boolean;
  readonly #names = new Map<string, string>();

  constructor(hasCublas: boolean) {
    this.hasCublas = hasCublas;
  }

  /** The text: the functions that kernels use, then the kernels. */
  get source(): string {
    const kernels = [...this.#names].map(([text, name]) => text.replace("@name", name));
    return [prelude, ...kernels].join("\n");
  }

  /** Number of different kernels. */
  get kernelCount(): number {
    return this.#names.size;
  }

  /** A kernel with one thread for each of `count` elements; `body` has the number of the element as `i`. */
  each(count: number, reads: readonly Parameter[], writes: readonly Parameter[], body: readonly string[]): void {
    checkCount(count);
    if (count === 0) return;
    const lines = [`int i = (int)(blockIdx.x * ${blockThreads}u + threadIdx.x);`, `if (i >= ${count}) return;`, ...body];
    this.#launch(lines, reads, writes, Math.ceil(count / blockThreads), blockThreads);
  }

  /** A kernel with one block for each of `count` rows; `body` has the number of the row as `row` and that of the thread as `lane`. `threads`: a power of two. */
  rows(count: number, threads: number, reads: readonly Parameter[], writes: readonly Parameter[], body: readonly string[]): void {
    checkCount(count);
    if (count === 0) return;
    const lines = ["int row = (int)blockIdx.x;", "int lane = (int)threadIdx.x;", ...body];
    this.#launch(lines, reads, writes, count, threads);
  }

  #launch(
    lines: readonly string[],
    reads: readonly Parameter[],
    writes: readonly Parameter[],
    blocks: number,
    threads: number,
  ): void {
    for (const { value } of [...reads, ...writes]) checkCount(value.type.shape.reduce((product, size) => product * size, 1));
    const parameters = [
      ...reads.map(({ value, name }) => `const ${cType(value.type.dataType).stored} *${name}`),
      ...writes.map(({ value, name }) => `${cType(value.type.dataType).stored} *${name}`),
    ];
    const text = [
      `extern "C" __global__ void __launch_bounds__(${threads}) @name(${parameters.join(", ")}) {`,
      ...lines.map((line) => `  ${line}`),
      "}\n",
    ].join("\n");
    const kernel = this.#names.get(text) ?? `kernel_${this.#names.size}`;
    this.#names.set(text, kernel);
    this.steps.push({ kind: "launch", kernel, blocks, threads, operands: [...reads, ...writes].map(({ value }) => value) });
  }
}

function checkCount(count: number): void {
  if (count > maxElements)
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `a tensor has ${count} elements, and kernels on CUDA count up to ${maxElements}`,
    );
}
