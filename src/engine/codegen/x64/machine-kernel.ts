/** Kernels as x86-64 machine code, in place of the WebAssembly functions for the same calls. Plain data. */

import type { X64Level } from "../../../kernels/simd-levels.ts";

/**
 * An argument of machine code, made from the operands of a call of the kernel: dynamic sizes, byte offsets, first piece and end of the pieces. `address`: the
 * address of the memory, plus operand number `operand`, plus `pieceBytes` for each piece before the first. `operand`: the operand itself. `firstPiece`: number
 * of the first piece. `pieces`: the number of pieces. `none`: 0.
 */
export type MachineArgument =
  | { readonly kind: "address"; readonly operand: number; readonly pieceBytes: number }
  | { readonly kind: "operand"; readonly operand: number }
  | { readonly kind: "firstPiece" }
  | { readonly kind: "pieces" }
  | { readonly kind: "none" };

/** A move of the stack pointer by a function. */
export interface StackChange {
  /** Position after the instruction, in bytes from the beginning of the function. */
  readonly at: number;
  /** By how much the stack has grown; negative where it shrinks. A multiple of 8. */
  readonly bytes: number;
  /** The register of the caller that the instruction saved at the new stack pointer. Default: none. */
  readonly saved?: SavedRegister;
  /** The register of the caller that the instruction restored. Default: none. */
  readonly restored?: SavedRegister;
}

type SavedRegister =
  | "rax"
  | "rcx"
  | "rdx"
  | "rbx"
  | "rsp"
  | "rbp"
  | "rsi"
  | "rdi"
  | "r8"
  | "r9"
  | "r10"
  | "r11"
  | "r12"
  | "r13"
  | "r14"
  | "r15";

/** The code of a kernel: a function in the System V calling convention. */
export interface MachineFunction {
  /** Position-independent code. */
  readonly code: Uint8Array<ArrayBuffer>;
  /** The arguments of the function, each of 64 bits. Default: the dynamic sizes, the addresses of the parameters, the first piece and the end of the pieces. */
  readonly arguments?: readonly MachineArgument[];
  /** How the code moves the stack pointer, for debuggers and profilers. Default: not known, so that they see no callers of the kernel. */
  readonly stackChanges?: readonly StackChange[];
}

/** A kernel as machine code, in place of the WebAssembly function of the same key. Generated from `Kernel.machine` by the table in `families.ts`. */
export interface MachineKernel extends MachineFunction {
  /** Key of the kernel that it replaces: see `Kernel.key`. */
  readonly key: string;
  readonly level: X64Level;
  readonly arguments: readonly MachineArgument[];
}

/** A kernel whose code is in executable memory of this process. Can be posted to other threads. */
export interface InstalledKernel extends Pick<MachineKernel, "key" | "arguments"> {
  readonly address: bigint;
}
