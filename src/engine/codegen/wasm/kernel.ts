/**
 * The contract between whoever plans a computation and the generated kernels.
 *
 * All tensors live in one WebAssembly memory, named by byte offsets that are multiples of 16. Sizes need not be: a kernel writes not one byte
 * past a tensor's end, but it may read up to 16 bytes past it, so every buffer is followed by `readPaddingBytes` of readable memory.
 */
import type { I32, Local } from "./assembler/expression.ts";
import type { FunctionBuilder } from "./assembler/function-builder.ts";
import { i32 } from "./assembler/scalar.ts";

/** Bytes behind every buffer that kernels may read (never write). */
export const readPaddingBytes = 16;

/** What a kernel returns: 0 when all is well; others are named by the kernel that gives them. */
export type KernelStatus = number;

/**
 * A kernel, as plain data and one function that writes its code. It is called with the offsets named by `parameters`, in their order,
 * and last the half-open range of pieces to compute. Pieces share no written byte, so a call may be split over threads at any piece; the
 * bits do not depend on the split.
 */
export interface Kernel {
  /** Identical requests have identical keys, and one compiled function serves them all. */
  readonly key: string;
  readonly family: string;
  /** What the function takes first: sizes that its code does not depend on, so that it serves tensors of all of them. */
  readonly dynamicSizes: readonly number[];
  /** Names of the byte offsets that the function takes between those and `from` and `to`. */
  readonly parameters: readonly string[];
  readonly pieces: number;
  /** Rough nanoseconds that one piece takes on one thread: what sharing a call is worth is told by it. */
  readonly pieceNanoseconds: number;
  /** Bytes of private scratch memory that each concurrent call needs; its offset is the parameter `scratch`. */
  readonly scratchBytes: number;
  emit(f: FunctionBuilder): void;
}

/** What a call of a compiled kernel needs to know of it: all but how its code is written. */
export type KernelCall = Omit<Kernel, "emit">;

export function kernelCall({
  key,
  family,
  dynamicSizes,
  parameters,
  pieces,
  pieceNanoseconds,
  scratchBytes,
}: Kernel): KernelCall {
  return { key, family, dynamicSizes, parameters, pieces, pieceNanoseconds, scratchBytes };
}

/** A kernel's function: counts, offsets, then the range of pieces. */
export type KernelFunction = (...countsOffsetsAndRange: number[]) => KernelStatus;

interface KernelDefinition<Always extends string, Optional extends string, Count extends string> {
  readonly family: string;
  /** Everything the code depends on. */
  readonly request: object;
  /** Sizes that the code takes as numbers. */
  readonly dynamicSizes?: Readonly<Record<Count, number>>;
  /** The offsets it takes: inputs, then those optional ones that are asked for, then outputs, then `scratch` where it needs any. */
  readonly inputs: readonly Always[];
  readonly optional?: Readonly<Record<Optional, boolean>>;
  readonly outputs: readonly Always[];
  readonly pieces: number;
  readonly pieceNanoseconds: number;
  readonly scratchBytes?: number;
  /** Writes the body for the pieces `from` to `to`; a status it gives back is returned instead of 0. */
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

export function defineKernel<
  const Always extends string,
  const Optional extends string = never,
  const Count extends string = never,
>(definition: KernelDefinition<Always, Optional, Count>): Kernel {
  const { family, pieces, pieceNanoseconds, scratchBytes = 0 } = definition;
  const optional = Object.entries<boolean>(definition.optional ?? {}).flatMap(([name, wanted]) => (wanted ? [name] : []));
  const counts = Object.entries<number>(definition.dynamicSizes ?? {});
  const parameters = [...definition.inputs, ...optional, ...definition.outputs, ...(scratchBytes > 0 ? ["scratch"] : [])];
  return {
    key: `${family} ${canonicalJson(definition.request)}`,
    family,
    dynamicSizes: counts.map(([, count]) => count),
    parameters,
    pieces,
    pieceNanoseconds,
    scratchBytes,
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

/** JSON with sorted keys; what is undefined is left out, and numbers JSON cannot say keep their names. */
function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join()}]`;
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).filter(([, entry]) => entry !== undefined);
    return `{${entries
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, entry]) => `${name}:${canonicalJson(entry)}`)
      .join()}}`;
  }
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (typeof value === "bigint") return `${value}n`;
  return JSON.stringify(value);
}
