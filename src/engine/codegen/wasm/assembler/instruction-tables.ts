/** Creates typed instruction functions from tables of opcodes. */
import { type Bytes, unsigned } from "./encoding.ts";
import { type Expression, type I32, type Statement, type ValueType, expression } from "./expression.ts";

/** The generator of an instruction with one operand. */
export type UnaryInstruction<Of extends ValueType, To extends ValueType = Of> = (value: Expression<Of>) => Expression<To>;
/** The generator of an instruction with two operands. */
export type BinaryInstruction<Of extends ValueType, To extends ValueType = Of> = (
  a: Expression<Of>,
  b: Expression<Of>,
) => Expression<To>;
/** A load from `address` + `offset` bytes. The constant offset is part of the instruction and takes no time. */
export type LoadInstruction<To extends ValueType> = (address: I32, offset?: number) => Expression<To>;
/** The generator of an instruction that stores `value` at `address` + `offset` bytes. */
export type Store<Of extends ValueType> = (address: I32, value: Expression<Of>, offset?: number) => Statement;

/** One instruction generator per entry of a table of opcodes, under the same name. */
export type Named<Table, Instruction> = { readonly [name in keyof Table]: Instruction };

/** Prefix byte of SIMD instructions; the opcode follows as LEB128. */
const simdPrefix = 0xfd;

/** Encodes an opcode of the SIMD group. */
export const simd = (opcode: number): Bytes => [simdPrefix, ...unsigned(opcode)];

type Opcodes = Readonly<Record<string, number>>;
type Encode = (opcode: number) => Bytes;

/** Encodes an opcode of one byte. */
export const plain: Encode = (opcode) => [opcode];

/** Instructions with one operand of type `_of` and a result of type `to`. */
export function unaries<Table extends Opcodes, Of extends ValueType, To extends ValueType>(
  table: Table,
  encode: Encode,
  _of: Of,
  to: To,
): Named<Table, UnaryInstruction<Of, To>> {
  return mapped(
    table,
    (opcode): UnaryInstruction<Of, To> =>
      (value) =>
        expression(to, value.code, encode(opcode)),
  );
}

/** Instructions with two operands of type `_of` and a result of type `to`. */
export function binaries<Table extends Opcodes, Of extends ValueType, To extends ValueType>(
  table: Table,
  encode: Encode,
  _of: Of,
  to: To,
): Named<Table, BinaryInstruction<Of, To>> {
  return mapped(
    table,
    (opcode): BinaryInstruction<Of, To> =>
      (a, b) =>
        expression(to, a.code, b.code, encode(opcode)),
  );
}

/** Load instructions. `alignment` is the log2 of the natural alignment in bytes, a hint that never changes the result. */
export function loads<Table extends Readonly<Record<string, readonly [opcode: number, alignment: number]>>, To extends ValueType>(
  table: Table,
  encode: Encode,
  to: To,
): Named<Table, LoadInstruction<To>> {
  return mapped(
    table,
    ([opcode, alignment]): LoadInstruction<To> =>
      (address, offset = 0) =>
        expression(to, address.code, encode(opcode), alignment, unsigned(offset)),
  );
}

/** Store instructions for values of type `_of`. */
export function stores<
  Table extends Readonly<Record<string, readonly [opcode: number, alignment: number]>>,
  Of extends ValueType,
>(table: Table, encode: Encode, _of: Of): Named<Table, Store<Of>> {
  return mapped(table, ([opcode, alignment]): Store<Of> => (address, value, offset = 0) => ({
    code: [address.code, value.code, encode(opcode), alignment, unsigned(offset)],
  }));
}

function mapped<Table extends object, Instruction>(
  table: Table,
  make: (entry: Table[keyof Table]) => Instruction,
): Named<Table, Instruction> {
  const entries = Object.entries(table).map(([name, entry]) => [name, make(entry as Table[keyof Table])]);
  return Object.fromEntries(entries) as Named<Table, Instruction>;
}
