/**
 * Typed pieces of WebAssembly code. An expression is a sequence of instructions that leaves one value on the stack; its type parameter is the type of
 * that value. Expressions are plain data: one that is used twice is computed twice. `FunctionBuilder.value` stores a value in a local instead.
 */
import { type Code, unsigned } from "./encoding.ts";

/** The value types of WebAssembly that kernels use. */
export type ValueType = "i32" | "i64" | "f32" | "f64" | "v128";

/** Code that leaves one value of this type on the operand stack. */
export interface Expression<Type extends ValueType> {
  readonly type: Type;
  readonly code: Code;
}

/** Code that leaves nothing on the operand stack. */
export interface Statement {
  readonly code: Code;
}

/** A parameter or local variable. As an expression, it reads the variable. */
export interface Local<Type extends ValueType> extends Expression<Type> {
  readonly index: number;
}

/** An expression of a 32-bit integer, also used for addresses and conditions. */
export type I32 = Expression<"i32">;
/** An expression of a 64-bit integer. */
export type I64 = Expression<"i64">;
/** An expression of a float32. */
export type F32 = Expression<"f32">;
/** An expression of a float64. */
export type F64 = Expression<"f64">;
/** An expression of a 128-bit vector. Each instruction determines number and type of the lanes. */
export type V128 = Expression<"v128">;

/** The byte that encodes each value type in the binary format. */
export const typeCodes: Readonly<Record<ValueType, number>> = { i32: 0x7f, i64: 0x7e, f32: 0x7d, f64: 0x7c, v128: 0x7b };

/** Creates an expression of type `type` from the code that computes it. */
export function expression<Type extends ValueType>(type: Type, ...parts: Code): Expression<Type> {
  return { type, code: parts };
}

/** Creates a reference to the parameter or local variable with index `index`. */
export function getLocal<Type extends ValueType>(type: Type, index: number): Local<Type> {
  return { type, index, code: [0x20, ...unsigned(index)] };
}
