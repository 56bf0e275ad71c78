/**
 * The interface between planning and generated kernels.
 *
 * All tensors are in one WebAssembly memory and are passed as byte offsets that are multiples of 16. Sizes need not be multiples of anything: a kernel
 * never writes past the end of a tensor, but may read up to 16 bytes past it, so every buffer is followed by `readPaddingBytes` of readable memory.
 */
import type { I32, Local } from "./assembler/expression.ts";
import type { FunctionBuilder } from "./assembler/function-builder.ts";
import { i32 } from "./assembler/scalar.ts";
import { omitUndefined } from "../../../contract/checked.ts";
import type { X64Level } from "../../../kernels/simd-levels.ts";

/** Bytes after the end of every buffer that kernels may read, because they load whole vectors. They never write them. */
export const readPaddingBytes = 16;

/** Result of a kernel: 0 on success. Other values are documented by the kernel that returns them. */
export type KernelStatus = number;

/**
 * A kernel: plain data and a function that generates its code. Its function takes the dynamic sizes, then the byte offsets named by `parameters`, then
 * the half-open range of pieces to compute. Pieces write disjoint bytes, so a call can be divided among threads between any two pieces without changing
 * the result by a bit.
 */
export interface Kernel {
  /** Identifies the code: requests with equal keys share one compiled function. */
  readonly key: string;
  /** Name of the generator, such as "matmul". */
  readonly family: string;
  /** Sizes that are passed as arguments, so that one function serves all of them. */
  readonly dynamicSizes: readonly number[];
  /** Names of the byte offsets that the function takes, in order. */
  readonly parameters: readonly string[];
  /** Number of independent pieces of the call. */
  readonly pieces: number;
  /** Rough estimate of the nanoseconds that one piece takes on one thread: calls of one key whose sizes differ are compared by it. */
  readonly pieceNanoseconds: number;
  /** Number of neighbouring pieces that take less time computed together than one by one. Threads take a multiple of it where there are enough. */
  readonly tilePieces: number;
  /** Bytes of scratch memory that each concurrent call needs; its offset is the last parameter, `scratch`. 0 when none is needed. */
  readonly scratchBytes: number;
  /**
   * What machine code is generated from, to be called instead of the function where there is some for the level of the processor. It computes the same results: the
   * same bits for integers and quantized weights, within the tolerance of the kernel's checks for float32. Default: there is none.
   */
  readonly machine?: MachineRequest;
  /** Generates the function. */
  emit(f: FunctionBuilder): void;
}

/** What the machine code of a kernel is generated from. Plain data. */
export interface MachineRequest {
  /** What the family generates: see `../x64/families.ts`. */
  readonly request: object;
  /** Level of the machine code. Default: the highest that the model may use. */
  readonly level?: X64Level | undefined;
}

/** Everything needed to call a compiled kernel: a `Kernel` without its code. */
export type KernelCall = Omit<Kernel, "emit" | "machine">;

/** The kernel without its code. */
export function kernelCall({
  key,
  family,
  dynamicSizes,
  parameters,
  pieces,
  pieceNanoseconds,
  tilePieces,
  scratchBytes,
}: KernelCall): KernelCall {
  return { key, family, dynamicSizes, parameters, pieces, pieceNanoseconds, tilePieces, scratchBytes };
}

/** A compiled kernel. Arguments: the dynamic sizes, the byte offsets named by `parameters`, then the first piece and the end (exclusive) of the range. */
export interface CompiledKernel {
  (...countsOffsetsAndRange: number[]): KernelStatus;
  /** Calls it with the arguments in an array, which it does not keep, in less time. Default: there is only the function. */
  readonly withArray?: (countsOffsetsAndRange: readonly number[]) => KernelStatus;
}

/** Calls a kernel with the arguments in an array. */
export function callKernel(kernel: CompiledKernel, countsOffsetsAndRange: readonly number[]): KernelStatus {
  const { withArray } = kernel;
  return withArray === undefined ? kernel(...countsOffsetsAndRange) : withArray(countsOffsetsAndRange);
}

interface KernelDefinition<Always extends string, Optional extends string, Count extends string> {
  readonly family: string;
  /** Everything that the generated code depends on; becomes part of the key. */
  readonly request: object;
  /** Sizes that are passed as arguments. */
  readonly dynamicSizes?: Readonly<Record<Count, number>>;
  /** Names of parameters: inputs, the optional ones that are requested, outputs, and `scratch` when scratch memory is needed. */
  readonly inputs: readonly Always[];
  readonly optional?: Readonly<Record<Optional, boolean>>;
  readonly outputs: readonly Always[];
  readonly pieces: number;
  readonly pieceNanoseconds: number;
  /** See `Kernel.tilePieces`. Default: 1. */
  readonly tilePieces?: number;
  readonly scratchBytes?: number;
  /** See `Kernel.machine`. Default: there is no machine code. */
  readonly machine?: MachineRequest | undefined;
  /** Generates the body for the pieces `from` to `to`. Returns the status expression; default: 0. */
  emit(
    f: FunctionBuilder,
    offsets: Offsets<Always, Optional>,
    from: Local<"i32">,
    to: Local<"i32">,
    counts: Readonly<Record<Count, Local<"i32">>>,
  ): I32 | void;
}

type Offsets<Always extends string, Optional extends string> = Readonly<Record<Always, Local<"i32">>> &
  Readonly<Partial<Record<Optional | "scratch", Local<"i32">>>>;

/** Creates a kernel from its definition: derives the key, declares the parameters, and passes them to `emit` by name. */
export function defineKernel<
  const Always extends string,
  const Optional extends string = never,
  const Count extends string = never,
>(definition: KernelDefinition<Always, Optional, Count>): Kernel {
  const { family, pieces, pieceNanoseconds, tilePieces = 1, scratchBytes = 0, machine } = definition;
  const optional = Object.entries<boolean>(definition.optional ?? {}).flatMap(([name, wanted]) => (wanted ? [name] : []));
  const counts = Object.entries<number>(definition.dynamicSizes ?? {});
  const parameters = [...definition.inputs, ...optional, ...definition.outputs, ...(scratchBytes > 0 ? ["scratch"] : [])];
  const key = `${family} ${canonicalJson(definition.request)}`;
  return {
    key,
    family,
    dynamicSizes: counts.map(([, count]) => count),
    parameters,
    pieces,
    pieceNanoseconds,
    tilePieces,
    scratchBytes,
    ...omitUndefined({ machine }),
    emit(f) {
      const sizes = Object.fromEntries(counts.map(([name]) => [name, f.parameter("i32")]));
      const offsets = Object.fromEntries(parameters.map((name) => [name, f.parameter("i32")]));
      const from = f.parameter("i32");
      const to = f.parameter("i32");
      f.result(
        definition.emit(f, offsets as Offsets<Always, Optional>, from, to, sizes as Record<Count, Local<"i32">>) ?? i32.const(0),
      );
    },
  };
}

/** JSON with sorted keys. Undefined entries are left out; numbers without a JSON form are written by name. */
function canonicalJson(value: unknown): string {
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (typeof value !== "object" || value === null) return typeof value === "bigint" ? `${value}n` : JSON.stringify(value);
  let text = "";
  if (Array.isArray(value)) {
    for (const entry of value) text += `${text === "" ? "" : ","}${canonicalJson(entry)}`;
    return `[${text}]`;
  }
  for (const name of Object.keys(value).sort()) {
    const entry = (value as Readonly<Record<string, unknown>>)[name];
    if (entry !== undefined) text += `${text === "" ? "" : ","}${name}:${canonicalJson(entry)}`;
  }
  return `{${text}}`;
}
