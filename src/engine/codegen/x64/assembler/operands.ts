/** Registers and memory operands of x86-64 instructions. */

/** Integer registers by their number in the encoding. */
export const registers = {
  rax: 0,
  rcx: 1,
  rdx: 2,
  rbx: 3,
  rsp: 4,
  rbp: 5,
  rsi: 6,
  rdi: 7,
  r8: 8,
  r9: 9,
  r10: 10,
  r11: 11,
  r12: 12,
  r13: 13,
  r14: 14,
  r15: 15,
} as const;

/** Name of an integer register. */
export type Register = keyof typeof registers;

/** The number of a vector register: from 0 to 15 in VEX, to 31 in EVEX. Its width is a property of the instruction. */
export type Vector = number;

/** The number of a mask register (k0 to k7). As a write mask, 0 means that all lanes are written. */
export type MaskRegister = number;

/** Memory at `base` + `index` * `scale` + `displacement` bytes. */
export interface Memory {
  readonly base: Register;
  readonly displacement: number;
  /** Any register but rsp. Default: none. */
  readonly index?: Register;
  /** Factor of the index. Default: 1. */
  readonly scale?: 1 | 2 | 4 | 8;
}

/** One address per 32-bit lane: `base` + lane of the vector `indices` * `scale` + `displacement` bytes. For gathers and scatters. */
export interface LaneMemory {
  readonly base: Register;
  readonly indices: Vector;
  readonly scale: 1 | 2 | 4 | 8;
  readonly displacement: number;
}

/** Memory after the code of the function, at `constant` bytes from the start of its constants: see `Assembler.constant`. */
export interface ConstantMemory {
  readonly constant: number;
}

/** A memory operand of any form. */
export type AnyMemory = Memory | LaneMemory | ConstantMemory;

/** Widths of vectors in bits. */
export type VectorBits = 128 | 256 | 512;
