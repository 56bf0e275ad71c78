/** Kernels as x86-64 machine code, in place of the WebAssembly functions for the same calls. Plain data. */

import type { X64Level } from "../../../kernels/simd-levels.ts";

/**
 * An argument of machine code, made from the operands of a call of the kernel: dynamic sizes, byte offsets, first piece and end of the pieces. `address`: the
 * address of the memory, plus operand number `operand`, plus `pieceBytes` for each piece before the first. `operand`: the operand itself. `pieces`: the number
 * of pieces. `none`: 0.
 */
export type MachineArgument =
  | { readonly kind: "address"; readonly operand: number; readonly pieceBytes: number }
  | { readonly kind: "operand"; readonly operand: number }
  | { readonly kind: "pieces" }
  | { readonly kind: "none" };

/** A kernel as machine code. Its results are bit-identical with the WebAssembly function of the same key. */
export interface MachineKernel {
  /** Key of the kernel that it replaces: see `Kernel.key`. */
  readonly key: string;
  readonly level: X64Level;
  /** Position-independent code of one function in the System V calling convention. */
  readonly code: Uint8Array<ArrayBuffer>;
  /** The arguments of the function, each of 64 bits. */
  readonly arguments: readonly MachineArgument[];
}

/** The values of the arguments for a call. `base`: address of the WebAssembly memory. */
export function machineArguments(
  { arguments: list }: Pick<MachineKernel, "arguments">,
  base: number,
  operands: readonly number[],
): number[] {
  const [from = 0, to = 0] = operands.slice(-2);
  return list.map((argument) => {
    switch (argument.kind) {
      case "address":
        return base + (operands[argument.operand] ?? 0) + from * argument.pieceBytes;
      case "operand":
        return operands[argument.operand] ?? 0;
      case "pieces":
        return to - from;
      case "none":
        return 0;
    }
    return argument satisfies never;
  });
}

/** A kernel whose code is in executable memory of this process. Can be posted to other threads. */
export interface InstalledKernel extends Pick<MachineKernel, "key" | "arguments"> {
  readonly address: bigint;
}
