/**
 * Typed pieces of code. An expression is the instructions that leave one value on the stack; the type checker sees what kind of value.
 * Both are plain data: used twice, an expression is computed twice. `FunctionBuilder.value` keeps it in a local instead.
 */
import { unsigned } from "./encoding.ts";

/** Bytes, nested as they were put together: written out once, when a function takes them. */
export type Code = readonly (number | Code)[];

export type ValueType = "i32" | "i64" | "f32" | "f64" | "v128";

export interface Expression<Type extends ValueType> {
  readonly type: Type;
  readonly code: Code;
}

/** Instructions that leave nothing. */
export interface Statement {
  readonly code: Code;
}

/** A parameter or local variable: as an expression, its value. */
export interface Local<Type extends ValueType> extends Expression<Type> {
  readonly index: number;
}

export type I32 = Expression<"i32">;
export type I64 = Expression<"i64">;
export type F32 = Expression<"f32">;
export type F64 = Expression<"f64">;
/** 128 bits: how many lanes of what type they are, each instruction says. */
export type V128 = Expression<"v128">;

export const typeCodes: Readonly<Record<ValueType, number>> = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b };

export function expression<Type extends ValueType>(type: Type, ...parts: Code): Expression<Type> {
  return { type, code: parts };
}

export function localOf<Type extends ValueType>(type: Type, index: number): Local<Type> {
  return { type, index, code: [0x20, ...unsigned(index)] };
}
