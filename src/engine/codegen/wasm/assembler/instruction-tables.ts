/** Creates typed instruction functions from tables of opcodes. */
import { type Bytes, type Code, unsigned } from "./encoding.ts";
import { type Expression, type I32, type Statement, type V128, type ValueType, expression } from "./expression.ts";

/** The generator of an instruction with one operand. */
export type UnaryInstruction<Of extends ValueType, To extends ValueType = Of> = (value: Expression<Of>) => Expression<To>;
/** The generator of an instruction with two operands. */
export type BinaryInstruction<Of extends ValueType, To extends ValueType = Of> = (
  a: Expression<Of>,
  b: Expression<Of>,
) => Expression<To>;

/**
 * The generator of an instruction by its signature: "i32 i32 > i64" takes two expressions and gives one. "load" and "store" take the address of a value, and
 * a constant offset in bytes that is part of the instruction and takes no time; "load lane" and "store lane" read or write one lane of a vector there.
 */
export type Instruction<Signature> = Signature extends `load ${infer To extends ValueType}`
  ? (address: I32, offset?: number) => Expression<To>
  : Signature extends `store ${infer Of extends ValueType}`
    ? (address: I32, value: Expression<Of>, offset?: number) => Statement
    : Signature extends "load lane"
      ? (address: I32, value: V128, lane: number, offset?: number) => V128
      : Signature extends "store lane"
        ? (address: I32, value: V128, lane: number, offset?: number) => Statement
        : Signature extends `extract ${infer To extends ValueType}`
          ? (value: V128, lane: number) => Expression<To>
          : Signature extends `replace ${infer Of extends ValueType}`
            ? (value: V128, lane: number, by: Expression<Of>) => V128
            : Signature extends `${infer Operands} > ${infer To extends ValueType}`
              ? (...operands: OperandsOf<Operands>) => Expression<To>
              : never;

type OperandsOf<Text> = Text extends `${infer First extends ValueType} ${infer Rest}`
  ? [Expression<First>, ...OperandsOf<Rest>]
  : Text extends ValueType
    ? [Expression<Text>]
    : [];

/** Opcodes of instructions by signature and name. Those of loads and stores have the log2 of the natural alignment in bytes, a hint that never changes the result. */
type InstructionTable = Readonly<Record<string, Readonly<Record<string, number | readonly [opcode: number, alignment: number]>>>>;

type Names<Table> = { [Signature in keyof Table]: keyof Table[Signature] }[keyof Table];

type SignatureOf<Table, Name> = {
  [Signature in keyof Table]: Name extends keyof Table[Signature] ? Signature : never;
}[keyof Table];

/** One instruction generator per entry of a table, under the same name. */
export type Instructions<Table> = { readonly [Name in Names<Table> & string]: Instruction<SignatureOf<Table, Name>> };

/** Encodes an opcode of one byte. */
export const plain = (opcode: number): Bytes => [opcode];
/** Encodes an opcode of the SIMD group: a prefix byte, and the opcode as LEB128. */
export const simd = (opcode: number): Bytes => [0xfd, ...unsigned(opcode)];
/** Encodes an opcode of the group of saturating conversions and bulk memory. */
export const miscellaneous = (opcode: number): Bytes => [0xfc, ...unsigned(opcode)];

/** The generators of a table of instructions. */
export function instructionSet<Table extends InstructionTable>(
  table: Table,
  encode: (opcode: number) => Bytes,
): Instructions<Table> {
  const entries = Object.entries(table).flatMap(([signature, opcodes]) =>
    Object.entries(opcodes).map(([name, entry]) => {
      const [opcode, alignment] = typeof entry === "number" ? [entry, 0] : entry;
      return [name, generator(signature, encode(opcode), alignment)];
    }),
  );
  return Object.fromEntries(entries) as Instructions<Table>;
}

type Operand = Expression<ValueType>;

/** The generator of one instruction, of any of the signatures. */
function generator(signature: string, opcode: Bytes, alignment: number): unknown {
  const to = signature.split(" ").at(-1) as ValueType;
  const access = (offset: number): Code => [opcode, alignment, unsigned(offset)];
  if (signature === "load lane")
    return (address: Operand, value: Operand, lane: number, offset = 0) =>
      expression("v128", address.code, value.code, access(offset), lane);
  if (signature === "store lane")
    return (address: Operand, value: Operand, lane: number, offset = 0) => ({
      code: [address.code, value.code, access(offset), lane],
    });
  if (signature.startsWith("load ")) return (address: Operand, offset = 0) => expression(to, address.code, access(offset));
  if (signature.startsWith("store "))
    return (address: Operand, value: Operand, offset = 0) => ({ code: [address.code, value.code, access(offset)] });
  if (signature.startsWith("extract ")) return (value: Operand, lane: number) => expression(to, value.code, opcode, lane);
  if (signature.startsWith("replace "))
    return (value: Operand, lane: number, by: Operand) => expression("v128", value.code, by.code, opcode, lane);
  const operands = signature.split(" ").indexOf(">");
  if (operands === 1) return (a: Operand) => expression(to, a.code, opcode);
  if (operands === 2) return (a: Operand, b: Operand) => expression(to, a.code, b.code, opcode);
  return (a: Operand, b: Operand, c: Operand) => expression(to, a.code, b.code, c.code, opcode);
}
