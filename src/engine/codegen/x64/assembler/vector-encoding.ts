/** The encodings of vector instructions: VEX (128 and 256 bits, registers 0 to 15) and EVEX (to 512 bits, 32 registers, masks, broadcast). */
import type { CodeBuffer } from "./code-buffer.ts";
import type { Row, OperandSize } from "./instruction-rows.ts";
import { type AnyMemory, type MaskRegister, type VectorBits, registers } from "./operands.ts";

/** Options of a vector instruction. */
export interface VectorOptions {
  /** Width of the vectors in bits. Default: the width that the assembler was created with. */
  readonly bits?: VectorBits;
  /** Lanes to write. Default: all. */
  readonly mask?: MaskRegister;
  /** Sets lanes outside of the mask to 0. Default: they keep their values. */
  readonly zeroing?: boolean;
  /** Copies one element of memory to all lanes. Default: false. */
  readonly broadcast?: boolean;
}

/** The operands of an instruction by the fields that hold them, as numbers of registers. */
export interface EncodedOperands {
  readonly field: number;
  readonly second: number;
  readonly operand: number | AnyMemory;
  readonly immediate: number | undefined;
}

/** Whether an instruction with these options and registers needs EVEX. */
export function needsEvex(
  [, , , , form, , { only } = {}]: Row,
  { field, second, operand }: EncodedOperands,
  { bits, mask = 0, broadcast = false }: VectorOptions,
): boolean {
  if (only === "evex" || bits === 512 || mask > 0 || broadcast || field > 15 || second > 15) return true;
  if (typeof operand === "number") return operand > 15;
  return form === "vmi" || ("indices" in operand && operand.indices > 15); // shifts of memory
}

/** Appends an instruction in VEX. */
export function encodeVex(code: CodeBuffer, row: Row, operands: EncodedOperands, bits: VectorBits): void {
  const [map, prefix, evexW, opcode, , , { vexW: w = evexW } = {}] = row;
  const { field, second, operand, immediate } = operands;
  const { base, index } = extensionsOf(operand);
  const last = ((second ^ 15) << 3) | (bits === 256 ? 4 : 0) | prefix;
  if (map === 1 && w === 0 && base < 8 && index < 8) code.push(0xc5, (field < 8 ? 0x80 : 0) | last);
  else code.push(0xc4, (field < 8 ? 0x80 : 0) | (index & 8 ? 0 : 0x40) | (base & 8 ? 0 : 0x20) | map, (w << 7) | last);
  code.push(opcode);
  pushOperand(code, field, operand, 1, immediate);
}

/** Appends an instruction in EVEX. */
export function encodeEvex(
  code: CodeBuffer,
  row: Row,
  operands: EncodedOperands,
  { bits = 512, mask = 0, zeroing = false, broadcast = false }: VectorOptions,
): void {
  const [map, prefix, w, opcode, , tuple] = row;
  const { field, second, operand, immediate } = operands;
  const { base, index } = extensionsOf(operand);
  // Instructions with a vector of indices have no second source: its field V' holds the fifth bit of the index register.
  const upper = typeof operand === "object" && "indices" in operand ? index : second;
  // X extends the number of a register in ModRM.rm by its fifth bit.
  const extendsIndex = typeof operand === "number" ? operand & 16 : index & 8;
  code.push(0x62);
  code.push(
    (field & 8 ? 0 : 0x80) | (extendsIndex ? 0 : 0x40) | (base & 8 ? 0 : 0x20) | (field & 16 ? 0 : 0x10) | map,
    (w << 7) | (((second & 15) ^ 15) << 3) | 4 | prefix,
    (zeroing ? 0x80 : 0) | (lengthBits(bits) << 5) | (broadcast ? 0x10 : 0) | (upper & 16 ? 0 : 8) | mask,
    opcode,
  );
  pushOperand(code, field, operand, memoryBytes(tuple, bits, broadcast), immediate);
}

function pushOperand(
  code: CodeBuffer,
  field: number,
  operand: number | AnyMemory,
  scale8: number,
  immediate: number | undefined,
): void {
  if (typeof operand === "number") code.modRmRegister(field, operand);
  else code.modRmMemory(field, operand, scale8, immediate === undefined ? 0 : 1);
  if (immediate !== undefined) code.push(immediate);
}

/** The numbers of the registers in ModRM.rm or SIB, whose fourth bits the prefixes hold. */
function extensionsOf(operand: number | AnyMemory): { readonly base: number; readonly index: number } {
  if (typeof operand === "number") return { base: operand, index: 0 };
  if ("constant" in operand) return { base: 0, index: 0 };
  if ("indices" in operand) return { base: registers[operand.base], index: operand.indices };
  return { base: registers[operand.base], index: operand.index === undefined ? 0 : registers[operand.index] };
}

function lengthBits(bits: VectorBits): number {
  return bits === 512 ? 2 : bits === 256 ? 1 : 0;
}

/** Size in bytes of a memory operand. */
export function memoryBytes(tuple: OperandSize, bits: VectorBits, broadcast: boolean): number {
  if (typeof tuple === "number") return tuple;
  switch (tuple) {
    case "full":
      return broadcast ? 4 : bits / 8;
    case "full64":
      return broadcast ? 8 : bits / 8;
    case "vector":
      return bits / 8;
    case "half":
      return bits / 16;
    case "half32":
      return broadcast ? 4 : bits / 16;
    case "quarter":
      return bits / 32;
    case "eighth":
      return bits / 64;
  }
  return tuple satisfies never;
}
