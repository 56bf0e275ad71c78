/** Makes typed functions out of tables of opcodes, one line per instruction. */
import { type Bytes, unsigned } from "./encoding.ts";
import { type Expression, type I32, type Statement, type ValueType, expression } from "./expression.ts";

export type Unary<Of extends ValueType, To extends ValueType = Of> = (value: Expression<Of>) => Expression<To>;
export type Binary<Of extends ValueType, To extends ValueType = Of> = (a: Expression<Of>, b: Expression<Of>) => Expression<To>;
/** `offset` is in bytes and constant; it costs nothing. */
export type Load<To extends ValueType> = (address: I32, offset?: number) => Expression<To>;
export type Store<Of extends ValueType> = (address: I32, value: Expression<Of>, offset?: number) => Statement;

export type Named<Table, Instruction> = { readonly [name in keyof Table]: Instruction };

/** A table's opcodes above 255 are SIMD ones: 0xfd, then the opcode as LEB128. Plain ones are one byte. */
const simdPrefix = 0xfd;

/** Marks an opcode of the SIMD group, which starts at 0 like the plain one. */
export const simd = (opcode: number): Bytes => [simdPrefix, ...unsigned(opcode)];

type Opcodes = Readonly<Record<string, number>>;
type Encode = (opcode: number) => Bytes;

export const plain: Encode = (opcode) => [opcode];

export function unaries<Table extends Opcodes, Of extends ValueType, To extends ValueType>(
  table: Table,
  encode: Encode,
  _of: Of,
  to: To,
): Named<Table, Unary<Of, To>> {
  return mapped(
    table,
    (opcode): Unary<Of, To> =>
      (value) =>
        expression(to, value.code, encode(opcode)),
  );
}

export function binaries<Table extends Opcodes, Of extends ValueType, To extends ValueType>(
  table: Table,
  encode: Encode,
  _of: Of,
  to: To,
): Named<Table, Binary<Of, To>> {
  return mapped(
    table,
    (opcode): Binary<Of, To> =>
      (a, b) =>
        expression(to, a.code, b.code, encode(opcode)),
  );
}

/** `alignments`: log2 of the natural alignment in bytes, a hint that never changes the result. */
export function loads<Table extends Readonly<Record<string, readonly [opcode: number, alignment: number]>>, To extends ValueType>(
  table: Table,
  encode: Encode,
  to: To,
): Named<Table, Load<To>> {
  return mapped(
    table,
    ([opcode, alignment]): Load<To> =>
      (address, offset = 0) =>
        expression(to, address.code, encode(opcode), alignment, unsigned(offset)),
  );
}

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
