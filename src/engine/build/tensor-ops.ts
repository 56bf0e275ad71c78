/** Short forms for the operations that operators and layers add most often. */
import type { ElementType } from "../ir/element-types.ts";
import type { Value } from "../ir/graph.ts";
import { toLiteral } from "../ir/literal.ts";
import type { BinaryFunction, Operation, ReduceFunction, UnaryFunction } from "../ir/operations.ts";
import type { Builder } from "./builder.ts";

/** Adds operations to the graph of `builder`, one method per operation. Each method returns the output; shapes are checked by type inference. */
export class TensorOps {
  /** Builder to which the operations are added. */
  readonly builder: Builder;

  constructor(builder: Builder) {
    this.builder = builder;
  }

  /** Adds any operation and returns its first output. */
  add(operation: Operation, ...inputs: readonly Value[]): Value {
    return this.builder.add(operation, ...inputs);
  }

  /** An elementwise function of one operand. */
  unary(name: UnaryFunction, x: Value): Value {
    return this.builder.add({ kind: "unary", function: name }, x);
  }

  /** An elementwise function of two operands, which broadcast. A number becomes a scalar of the other operand's type; float32 if both are numbers. */
  binary(name: BinaryFunction, a: Value | number, b: Value | number): Value {
    const type = typeof a === "object" ? a.type.dataType : typeof b === "object" ? b.type.dataType : "float32";
    return this.builder.add({ kind: "binary", function: name }, this.operand(a, type), this.operand(b, type));
  }

  /** `condition ? then : otherwise`, element by element; all three broadcast. Numbers become scalars as in `binary`. */
  select(condition: Value, then: Value | number, otherwise: Value | number): Value {
    const type =
      typeof then === "object" ? then.type.dataType : typeof otherwise === "object" ? otherwise.type.dataType : "float32";
    return this.builder.add({ kind: "select" }, condition, this.operand(then, type), this.operand(otherwise, type));
  }

  /** Converts the elements to type `to`; x itself if it has that type. `saturate`: values out of range become the type's limit instead of wrapping. */
  cast(x: Value, to: ElementType, saturate = false): Value {
    return x.type.dataType === to ? x : this.builder.add({ kind: "cast", to, saturate }, x);
  }

  /** Reduces `axes`. With `keep` they stay with size 1, else they are removed. */
  reduce(name: ReduceFunction, x: Value, axes: readonly number[], keep: boolean): Value {
    return this.builder.add({ kind: "reduce", function: name, axes, keep }, x);
  }

  /** The same elements, row-major, in another shape. */
  reshape(x: Value, shape: readonly number[]): Value {
    return this.builder.add({ kind: "reshape", shape }, x);
  }

  /** Permutes the axes: axis i of the result is axis `permutation[i]` of x. x itself if nothing moves. */
  transpose(x: Value, permutation: readonly number[]): Value {
    return permutation.every((axis, index) => axis === index) ? x : this.builder.add({ kind: "transpose", permutation }, x);
  }

  /** Elements `start` to `start + size - 1` of one axis. */
  slice(x: Value, axis: number, start: number, size: number): Value {
    const { shape } = x.type;
    const starts = Array.from(shape, (_, at) => (at === axis ? start : 0));
    return this.builder.add({ kind: "slice", starts, steps: Array.from(shape, () => 1), sizes: shape.with(axis, size) }, x);
  }

  /** A tensor of zeros. */
  zeros(type: ElementType, shape: readonly number[]): Value {
    return this.builder.add({ kind: "expand", shape }, this.scalar(0, type));
  }

  /** `value`; a number becomes a scalar constant of this type. */
  operand(value: Value | number, type: ElementType): Value {
    return typeof value === "number" ? this.scalar(value, type) : value;
  }

  /** A constant of shape `[]`, rounded to the type. */
  scalar(value: number, type: ElementType): Value {
    return this.builder.constant(toLiteral(type, [], [value]));
  }
}

/** The sizes of the axes of x. Throws if x does not have `rank` axes. */
export function dimensions(x: Value, rank: 2): readonly [number, number];
/** The sizes of the axes of x. Throws if x does not have `rank` axes. */
export function dimensions(x: Value, rank: 3): readonly [number, number, number];
/** The sizes of the axes of x. Throws if x does not have `rank` axes. */
export function dimensions(x: Value, rank: 4): readonly [number, number, number, number];
/** The sizes of the axes of x. Throws if x does not have `rank` axes. */
export function dimensions(x: Value, rank: number): readonly number[] {
  const { shape } = x.type;
  if (shape.length !== rank)
    throw new Error(`a tensor of shape [${shape.join(", ")}] has ${shape.length} axes instead of ${rank}`);
  return shape;
}
