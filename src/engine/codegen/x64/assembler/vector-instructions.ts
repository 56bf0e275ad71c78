/** All vector instructions of the assembler, and the operands of each. */
import { floatInstructions } from "./float-instructions.ts";
import type { Row } from "./instruction-rows.ts";
import { integerInstructions } from "./integer-instructions.ts";
import { movementInstructions } from "./movement-instructions.ts";
import {
  type ConstantMemory,
  type LaneMemory,
  type MaskRegister,
  type Memory,
  type Register,
  type Vector,
  registers,
} from "./operands.ts";
import type { EncodedOperands, VectorOptions } from "./vector-encoding.ts";

type Rows = typeof floatInstructions & typeof integerInstructions & typeof movementInstructions;

/** Name of a vector instruction. */
export type InstructionName = keyof Rows;

/** The rows of all vector instructions by name. Source of the encodings: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2. */
export const vectorInstructions: Readonly<Record<InstructionName, Row>> = {
  ...floatInstructions,
  ...integerInstructions,
  ...movementInstructions,
};

type Place = Memory | ConstantMemory;
type Source = Vector | Place;

/** The operands of each form, in the order in which they are passed. */
interface FormOperands {
  rvm: [to: Vector, first: Vector, second: Source];
  rvM: [to: Vector, mask: Vector, from: Place];
  rvr: [to: Vector, first: Vector, second: Vector];
  rm: [to: Vector, from: Source];
  rM: [to: Vector, from: Place];
  mr: [to: Vector | Memory, from: Vector];
  Mr: [to: Memory, from: Vector];
  Mvr: [to: Memory, mask: Vector, from: Vector];
  vmi: [to: Vector, from: Vector, immediate: number];
  rvmi: [to: Vector, first: Vector, second: Source, immediate: number];
  rmi: [to: Vector, from: Source, immediate: number];
  mri: [to: Vector | Memory, from: Vector, immediate: number];
  rvm4: [to: Vector, first: Vector, second: Source, mask: Vector];
  kvm: [to: MaskRegister, first: Vector, second: Source];
  kvmi: [to: MaskRegister, first: Vector, second: Source, immediate: number];
  rg: [to: Vector, from: Register];
  gr: [to: Register, from: Vector];
  gri: [to: Register | Memory, from: Vector, immediate: number];
  rvg: [to: Vector, first: Vector, from: Register | Memory];
  rvgi: [to: Vector, first: Vector, from: Register | Memory, immediate: number];
  dm: [to: Register, from: Vector];
  rx: [to: Vector, from: LaneMemory];
  xr: [to: LaneMemory, from: Vector];
  rxv: [to: Vector, from: LaneMemory, mask: Vector];
  kqp: [to: MaskRegister, first: MaskRegister, second: MaskRegister];
  kp: [to: MaskRegister, from: MaskRegister];
  kpi: [to: MaskRegister, from: MaskRegister, immediate: number];
  kg: [to: MaskRegister, from: Register];
  dp: [to: Register, from: MaskRegister];
  Mk: [to: Memory, from: MaskRegister];
}

/** The operands of an instruction, then its options. */
export type InstructionOperands<Name extends InstructionName> = [
  ...operands: FormOperands[Rows[Name][4]],
  options?: VectorOptions,
];

type AnyOperand = number | Register | Memory | ConstantMemory | LaneMemory;

/** What an instruction is called with: its operands, then its options. */
export type GivenOperands = readonly (AnyOperand | VectorOptions | undefined)[];

/** The operands of an instruction by the fields of its encoding, and its options. */
export function fieldsOf(
  [, , , , form, , { extension = 0 } = {}]: Row,
  given: GivenOperands,
): { readonly fields: EncodedOperands; readonly options: VectorOptions } {
  const fields: { -readonly [Field in keyof EncodedOperands]: EncodedOperands[Field] } = {
    field: extension,
    second: 0,
    operand: 0,
    immediate: undefined,
  };
  const kinds: string = form === "rvr" ? "rvm" : form;
  // A loop without iterators: it runs once for each instruction.
  for (let index = 0; index < kinds.length; index += 1) {
    const kind = kinds.charAt(index);
    const operand = given[index] as AnyOperand;
    const value = typeof operand === "string" ? registers[operand] : operand;
    if (typeof value !== "number" || kind === "m" || kind === "g" || kind === "p") fields.operand = value;
    else if (kind === "i") fields.immediate = value;
    else if (kind === "4") fields.immediate = value << 4;
    else if (kind === "v" || kind === "q") fields.second = value;
    else fields.field = value;
  }
  return { fields, options: (given[kinds.length] as VectorOptions | undefined) ?? {} };
}
