/** How scatter operations combine an update with the element at its target. */
import type { Expression, Local, ValueType } from "../../assembler/expression.ts";
import type { FunctionBuilder } from "../../assembler/function-builder.ts";
import type { BinaryInstruction } from "../../assembler/instruction-tables.ts";
import { f32, i32, i64, selectValue } from "../../assembler/scalar.ts";
import { type ElementBytes, copyElement } from "../loops/copy-bytes.ts";

/** How an update is combined with the element at its target: `none` replaces the element; the others apply ONNX's `reduction` of that name. */
export type ScatterReductionKernel = "none" | "add" | "mul" | "min" | "max";

/** The element type of the data, or its element size in bytes, which suffices for the reduction `none`. */
export type ScatterType = "float32" | "int32" | "int64" | ElementBytes;

/** Size in bytes of one element of each scatter type. */
export const elementBytesOf: Readonly<Record<ScatterType, ElementBytes>> = {
  float32: 4,
  int32: 4,
  int64: 8,
  1: 1,
  2: 2,
  4: 4,
  8: 8,
};

/** Combines the element at address `target` with the one at `update` and stores the result to `target`. */
export function storeReduced(
  f: FunctionBuilder,
  type: ScatterType,
  reduction: ScatterReductionKernel,
  target: Local<"i32">,
  update: Local<"i32">,
): void {
  if (reduction === "none" || typeof type === "number") copyElement(f, target, update, elementBytesOf[type], 0, 0);
  else if (type === "float32") f.run(f32.store(target, f32[reduction](f32.load(target), f32.load(update))));
  else if (type === "int32") f.run(i32.store(target, integerCombine(f, i32, reduction)(i32.load(target), i32.load(update))));
  else f.run(i64.store(target, integerCombine(f, i64, reduction)(i64.load(target), i64.load(update))));
}

interface IntegerInstructions<Type extends ValueType> {
  readonly add: BinaryInstruction<Type>;
  readonly mul: BinaryInstruction<Type>;
  readonly ltS: BinaryInstruction<Type, "i32">;
}

function integerCombine<Type extends ValueType>(
  f: FunctionBuilder,
  numbers: IntegerInstructions<Type>,
  reduction: Exclude<ScatterReductionKernel, "none">,
): BinaryInstruction<Type> {
  if (reduction === "add" || reduction === "mul") return numbers[reduction];
  return (one, other): Expression<Type> => {
    const [a, b] = [f.value(one), f.value(other)];
    return reduction === "min" ? selectValue(numbers.ltS(a, b), a, b) : selectValue(numbers.ltS(a, b), b, a);
  };
}
