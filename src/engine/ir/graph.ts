/** The program graph: operations on tensors of known types and shapes, in order. Every consumer (interpreter, WebAssembly, ...) reads this and nothing else. */
import { elementCount } from "../../tensor.ts";
import { type ElementType, elementTypes } from "./element-types.ts";
import type { Literal } from "./literal.ts";
import type { Operation, OperationKind, OperationOf } from "./operations.ts";

export interface TensorType {
  readonly dataType: ElementType;
  readonly shape: readonly number[];
}

/** One tensor of a program; values are told apart by identity. */
export interface Value {
  readonly type: TensorType;
  /** Set where the elements are known before the program runs: a weight, or what was folded. */
  readonly constant?: Literal;
}

export interface GraphNode {
  readonly operation: Operation;
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
}

/** A node whose operation is of a known kind. */
export interface NodeOf<Kind extends OperationKind> extends GraphNode {
  readonly operation: OperationOf<Kind>;
}

export interface NamedValue {
  readonly name: string;
  readonly value: Value;
}

/** Nodes stand in an order in which they can run. */
export interface Graph {
  readonly inputs: readonly NamedValue[];
  readonly nodes: readonly GraphNode[];
  readonly outputs: readonly NamedValue[];
}

export function typeOf({ dataType, shape }: Literal): TensorType {
  return { dataType, shape };
}

export function byteSize({ dataType, shape }: TensorType): number {
  return Math.ceil((elementCount(shape) * elementTypes[dataType].bits) / 8);
}

/** For people and the text form: "float32[2,3]". */
export function describeType({ dataType, shape }: TensorType): string {
  return `${dataType}[${shape.join(",")}]`;
}

export function sameShape(one: readonly number[], other: readonly number[]): boolean {
  return one.length === other.length && one.every((size, axis) => size === other[axis]);
}
