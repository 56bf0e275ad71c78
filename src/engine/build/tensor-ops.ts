/** What operators and layers are made of, in short: one method for each operation that is built all the time. */
import type { ElementType } from "../ir/element-types.ts";
import type { Value } from "../ir/graph.ts";
import { literalOf } from "../ir/literal.ts";
import type { BinaryFunction, Operation, ReduceFunction, UnaryFunction } from "../ir/operations.ts";
import type { Builder } from "./builder.ts";

export class TensorOps {
  readonly builder: Builder;

  constructor(build: Builder) {
    this.builder = build;
  }

  add(operation: Operation, ...inputs: readonly Value[]): Value {
    return this.builder.add(operation, ...inputs);
  }

  unary(name: UnaryFunction, x: Value): Value {
    return this.builder.add({ kind: "unary", function: name }, x);
  }

  /** A number becomes a scalar of the other operand's type. */
  binary(name: BinaryFunction, a: Value | number, b: Value | number): Value {
    const type = typeof a === "object" ? a.type.dataType : typeof b === "object" ? b.type.dataType : "float32";
    return this.builder.add({ kind: "binary", function: name }, this.operand(a, type), this.operand(b, type));
  }

  select(condition: Value, then: Value | number, otherwise: Value | number): Value {
    const type =
      typeof then === "object" ? then.type.dataType : typeof otherwise === "object" ? otherwise.type.dataType : "float32";
    return this.builder.add({ kind: "select" }, condition, this.operand(then, type), this.operand(otherwise, type));
  }

  cast(x: Value, to: ElementType, saturate = false): Value {
    return x.type.dataType === to ? x : this.builder.add({ kind: "cast", to, saturate }, x);
  }

  reduce(name: ReduceFunction, x: Value, axes: readonly number[], keep: boolean): Value {
    return this.builder.add({ kind: "reduce", function: name, axes, keep }, x);
  }

  reshape(x: Value, shape: readonly number[]): Value {
    return this.builder.add({ kind: "reshape", shape }, x);
  }

  transpose(x: Value, permutation: readonly number[]): Value {
    return permutation.every((axis, place) => axis === place) ? x : this.builder.add({ kind: "transpose", permutation }, x);
  }

  /** A part of one axis. */
  slice(x: Value, axis: number, start: number, size: number): Value {
    const { shape } = x.type;
    const starts = Array.from(shape, (_, at) => (at === axis ? start : 0));
    return this.builder.add({ kind: "slice", starts, steps: Array.from(shape, () => 1), sizes: shape.with(axis, size) }, x);
  }

  /** A tensor of zeros. */
  zeros(type: ElementType, shape: readonly number[]): Value {
    return this.builder.add({ kind: "expand", shape }, this.scalar(0, type));
  }

  operand(value: Value | number, type: ElementType): Value {
    return typeof value === "number" ? this.scalar(value, type) : value;
  }

  scalar(value: number, type: ElementType): Value {
    return this.builder.constant(literalOf(type, [], [value]));
  }
}
