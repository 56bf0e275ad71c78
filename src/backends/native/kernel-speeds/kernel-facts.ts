/** What the kernels for quantized weights are on this machine: their self-tests, and how fast they are. */
import { InferyardError } from "../../../contract/errors.ts";
import {
  activationRowBytes,
  blockLayout,
  blockMatmul,
  compileKernels,
  type Kernel,
  kernelFunction,
  packBlocks,
  packedBlockBytes,
  quantizeActivationBytes,
  quantizeActivations,
  wasmHost,
  wasmPageBytes,
} from "../../../engine/codegen/wasm/index.ts";
import { v128, i32x4 } from "../../../engine/codegen/wasm/assembler/vector.ts";
import { defineKernel } from "../../../engine/codegen/wasm/kernel.ts";
import { type MachineCode, generateMachineKernels, withMachineCode } from "../../../engine/codegen/x64/index.ts";
import { enableRelaxedSimd, withOptimizingCompiler } from "../../../engine/codegen/wasm/v8-flags.ts";
import { detectWasmFeatures, KernelChecks } from "../../../engine/index.ts";
import type { BlockFormat } from "../../../formats/gguf/blocks/block-format.ts";
import type { KernelEntry, KernelSelfTest } from "../../../kernels/kernel-entry.ts";
import { knownAnswer } from "../../../kernels/known-answers.ts";
import type { MachineFamilyName } from "../../../kernels/machine-families.ts";
import { multipliedFormats } from "../../../kernels/registry.ts";
import { multiplyScalar } from "../../../kernels/scalar-product.ts";
import type { KernelMachine, X64Level } from "../../../kernels/simd-levels.ts";
import { openMachineCode } from "../machine-code/machine-code.ts";
import { type FamilySpeed, type ProcessorPeaks, measureFamily, measurePeaks } from "./family-speeds.ts";
import { timeCalls } from "./time-calls.ts";

/** Speed of a kernel that multiplies a matrix by a vector. */
export interface KernelSpeed {
  /** Median milliseconds of one product. */
  readonly milliseconds: number;
  /** Bytes of weights that it reads each second, in units of 1e9. */
  readonly gigabytesPerSecond: number;
}

/** Rows and columns of the measured matrix: one of a language model with 7e9 parameters. */
export const measuredSize = 4096;
/** Copies of the weights take this much memory together, so that they do not fit into caches. */
const measuredBytes = 96 * 2 ** 20;

/** Tests and measures the kernels of this process. */
export class NativeKernels {
  readonly #checks: KernelChecks;
  readonly #features = detectWasmFeatures(enableRelaxedSimd);
  /** Why machine code cannot be called; true if it can. */
  readonly machineCode: KernelMachine["machineCode"];
  readonly #machine: MachineCode | undefined;

  private constructor(checks: KernelChecks, machine: MachineCode | string) {
    this.#checks = checks;
    this.machineCode = typeof machine === "string" ? machine : true;
    this.#machine = typeof machine === "string" ? undefined : machine;
  }

  /** Looks whether machine code can be called. */
  static async open(): Promise<NativeKernels> {
    const checks = new KernelChecks(detectWasmFeatures(enableRelaxedSimd));
    return new NativeKernels(checks, await openMachine(checks));
  }

  /** WebAssembly features of this process. */
  get wasm(): KernelMachine["wasm"] {
    return this.#features;
  }

  /** The level of machine code that models use here; undefined where they use none. */
  get machineLevel(): X64Level | undefined {
    return this.#machine?.level;
  }

  /**
   * The result of the known-answer tests of a family of kernels in machine code; undefined if there is no machine code here. `level`: one that the processor has.
   * Default: the highest.
   */
  testFamily(family: MachineFamilyName, level: X64Level | undefined = this.machineLevel): KernelSelfTest | undefined {
    if (this.#machine === undefined || level === undefined) return undefined;
    const start = performance.now();
    const problem = this.#checks.checkMachineFamily(family, level);
    const milliseconds = performance.now() - start;
    return problem === undefined ? { passed: true, milliseconds } : { passed: false, problem, milliseconds };
  }

  /** Measures what this processor reaches at best; undefined if there is no machine code here. */
  measurePeaks(): ProcessorPeaks | undefined {
    return this.#machine && measurePeaks(this.#machine);
  }

  /** Measures a family of kernels in machine code on one thread; undefined if it has none here. */
  measureFamily(family: MachineFamilyName, peaks: ProcessorPeaks): FamilySpeed | undefined {
    return this.#machine && measureFamily(family, this.#machine, peaks);
  }

  /** The result of a kernel's known-answer test, which runs once; undefined if it cannot be called here. */
  selfTest({ id, formats }: KernelEntry): KernelSelfTest | undefined {
    const [type, format] = getFormat(formats);
    if (type !== undefined && format !== undefined && this.#features.simd)
      this.#checks.check([{ name: id, blocks: { type, format } }]);
    return this.#checks.selfTests.get(id);
  }

  /** Measures a kernel on one thread with weights in main memory, not in caches. Undefined if it cannot be called here. */
  measure(entry: KernelEntry): KernelSpeed | undefined {
    const [, format] = getFormat(entry.formats);
    const kernel = this.#checks.blockKernels.getKernel(entry);
    if (format === undefined || kernel === undefined || this.selfTest(entry)?.passed !== true) return undefined;
    const size = measuredSize;
    const { weights, activations } = sample(format, size);
    if (kernel.kind === "generated") return this.#measureGenerated(format, kernel.level, weights, activations);
    const copies = Math.max(1, Math.ceil(measuredBytes / weights.byteLength));
    const all = Array.from({ length: copies }, () => weights.slice());
    const output = new Float32Array(size);
    const product = { format, m: 1, n: size, k: size };
    return getSpeed((call) => multiplyScalar(product, activations, all[call % copies] ?? weights, output), weights.byteLength);
  }

  /** Gigabytes of memory that one thread reads each second at best, 16 bytes at a time. */
  measureMemory(): number {
    const { memory, run } = this.#compile([readingKernel], measuredBytes + wasmPageBytes);
    new Uint8Array(memory.buffer).fill(1);
    const { best } = timeCalls(() => run(readingKernel, [wasmPageBytes, 0]));
    return measuredBytes / best / 1e6;
  }

  #measureGenerated(
    format: BlockFormat,
    level: X64Level | undefined,
    weights: Uint8Array,
    activations: Float32Array,
  ): KernelSpeed {
    const size = measuredSize;
    const layout = blockLayout(format);
    const bytes = packedBlockBytes(layout, size, size);
    const stride = Math.ceil(bytes / 64) * 64 + 64;
    const copies = Math.max(1, Math.ceil(measuredBytes / bytes));
    const quantize =
      layout.depth === 4
        ? quantizeActivationBytes({ rows: 1, columns: size, elements: layout.superElements })
        : quantizeActivations({ rows: 1, columns: size });
    const multiply = blockMatmul({ m: 1, n: size, k: size, format, machineLevel: level });
    const [x, quantized, output] = [4096, 4096 + 8 * size, 4096 + 24 * size];
    const start = wasmPageBytes * 4;
    const { memory, run } = this.#compile([quantize, multiply], start + copies * stride);
    new Float32Array(memory.buffer, x, size).set(activations);
    if (activationRowBytes(layout, size) > output - quantized)
      throw new InferyardError("CONTRACT_VIOLATION", "activations overlap");
    packBlocks(new Uint8Array(memory.buffer, start, bytes), { format, k: size, n: size, bytes: weights });
    for (let copy = 1; copy < copies; copy += 1)
      new Uint8Array(memory.buffer).copyWithin(start + copy * stride, start, start + bytes);
    return getSpeed((call) => {
      run(quantize, [x, quantized]);
      run(multiply, [quantized, start + (call % copies) * stride, output]);
    }, bytes);
  }

  #compile(
    kernels: readonly Kernel[],
    bytes: number,
  ): {
    readonly memory: { readonly buffer: ArrayBuffer | SharedArrayBuffer };
    run(kernel: Kernel, offsets: readonly number[]): void;
  } {
    const memory = new (wasmHost().Memory)({ initial: Math.ceil(bytes / wasmPageBytes) + 1 });
    const compiled = withOptimizingCompiler(() => compileKernels(kernels, memory, this.#features));
    this.#machine?.free();
    const machineKernels = generateMachineKernels(kernels, this.#machine);
    const { functions } = withMachineCode(compiled, machineKernels, memory, this.#machine);
    return {
      memory,
      run: (kernel, offsets) => kernelFunction(functions, kernel)(...kernel.dynamicSizes, ...offsets, 0, kernel.pieces),
    };
  }
}

async function openMachine(checks: KernelChecks): Promise<MachineCode | string> {
  if (openMachineCode === undefined) return "a page calls no native code";
  try {
    const { create, features } = openMachineCode();
    checks.addMachineCode(create, features);
    return create();
  } catch (error) {
    if (error instanceof InferyardError) return error.message;
    throw error;
  }
}

function getFormat(formats: KernelEntry["formats"]): readonly [type?: string, format?: BlockFormat | undefined] {
  const [type] = formats === "any" ? [] : formats;
  return type === undefined ? [] : [type, multipliedFormats[type]];
}

/** Weights [size, size] as blocks, the rows of a known answer again and again, and a vector. */
function sample(format: BlockFormat, size: number): { readonly weights: Uint8Array; readonly activations: Float32Array } {
  const answer = knownAnswer(format, { columns: size, activationRows: 1, activationGroup: 32 });
  const rowBytes = (size / format.elements) * format.bytes;
  const weights = new Uint8Array(size * rowBytes);
  for (let row = 0; row < size; row += 1) {
    const from = (row % answer.weightRows) * rowBytes;
    weights.set(answer.bytes.subarray(from, from + rowBytes), row * rowBytes);
  }
  return { weights, activations: answer.activations };
}

function getSpeed(call: (index: number) => void, bytes: number): KernelSpeed {
  const { median } = timeCalls(call);
  return { milliseconds: median, gigabytesPerSecond: bytes / median / 1e6 };
}

/** Reads memory in eight streams of 16 bytes, and writes the sum of what it read. */
const readingKernel: Kernel = defineKernel({
  family: "read-memory",
  request: {},
  inputs: ["source"],
  outputs: ["sum"],
  pieces: measuredBytes / 128,
  pieceNanoseconds: 10,
  emit(f, { source, sum }, from, to) {
    const sums = f.locals("v128", 8);
    const address = f.value(source);
    f.range(from, to, 1, () => {
      for (const [index, each] of sums.entries()) f.set(each, i32x4.add(each, v128.load(address, 16 * index)));
      f.increase(address, 128);
    });
    for (const [index, each] of sums.entries()) f.run(v128.store(sum, each, 16 * index));
  },
});
