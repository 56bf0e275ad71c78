/** Types of C functions as plain data, and the JavaScript values they stand for. */
import type { StructLayout } from "./struct-layout.ts";

/** Numbers of fixed size; `size` is size_t, whose values are JavaScript numbers up to 2^53. */
type NumberType = "int8" | "uint8" | "int16" | "uint16" | "int32" | "uint32" | "size" | "float32" | "float64";

/** The type of a parameter. `string`: a UTF-8 string that ends with a zero byte. A layout: a struct passed by value. */
export type ParameterType = "bool" | NumberType | "int64" | "uint64" | "pointer" | "string" | StructLayout;

/** The type of a result. */
export type ResultType = "void" | ParameterType;

/** The types of a C function. */
export interface Signature {
  readonly result: ResultType;
  readonly parameters: readonly ParameterType[];
}

/** Memory of JavaScript whose address a C function is given. It is not copied, and must be as large as the function expects. */
export type NativeMemory = ArrayBufferView | ArrayBuffer;

/** The JavaScript value of a parameter. Pointers: an address, memory of JavaScript, or undefined for NULL. Structs: their bytes. */
export type ArgumentOf<Type> = Type extends "bool"
  ? boolean
  : Type extends NumberType
    ? number
    : Type extends "int64" | "uint64"
      ? bigint | number
      : Type extends "pointer"
        ? bigint | NativeMemory | undefined
        : Type extends "string"
          ? string | undefined
          : Uint8Array;

/** The JavaScript value of a result. Pointers: the address, 0n for NULL. Strings: a copy, undefined for NULL. Structs: their bytes. */
export type ResultOf<Type> = Type extends "void"
  ? void
  : Type extends "bool"
    ? boolean
    : Type extends NumberType
      ? number
      : Type extends "int64" | "uint64" | "pointer"
        ? bigint
        : Type extends "string"
          ? string | undefined
          : Uint8Array;

/** The arguments of a function with these parameters. */
export type ArgumentsOf<Parameters extends readonly ParameterType[]> = {
  -readonly [Index in keyof Parameters]: ArgumentOf<Parameters[Index]>;
};

/** A C function that is called on this thread, which it holds until it returns. */
export type NativeFunction<Of extends Signature> = (...inputs: ArgumentsOf<Of["parameters"]>) => ResultOf<Of["result"]>;

/** A C function that is called on a thread of koffi's pool. The caller keeps the memory it points to unchanged meanwhile. */
export type AsyncNativeFunction<Of extends Signature> = (
  ...inputs: ArgumentsOf<Of["parameters"]>
) => Promise<ResultOf<Of["result"]>>;

/** The arguments that C passes to a callback, converted as results are. */
export type CallbackArguments<Parameters extends readonly ParameterType[]> = {
  -readonly [Index in keyof Parameters]: ResultOf<Parameters[Index]>;
};
