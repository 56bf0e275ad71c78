/**
 * The intermediate representation (IR): a graph of primitive operations on tensors whose types and shapes are known. The interpreter, the passes
 * and the code generator read this and no ONNX.
 */
import type { Literal } from "./literal.ts";
import type { Operation, OperationKind, OperationOf } from "./operations.ts";
import type { TensorType } from "./tensor-type.ts";

/** One tensor of a graph in SSA form: an input, a constant, or an output of one node. Two values are the same only if they are the same object. */
export interface Value {
  readonly type: TensorType;
  /** The elements, if they are known before the graph runs: a weight, or the result of constant folding. */
  readonly constant?: Literal;
}

/** One operation, the values that it reads and the values that it defines. */
export interface GraphNode {
  readonly operation: Operation;
  readonly inputs: readonly Value[];
  readonly outputs: readonly Value[];
}

/** A node whose operation is of a known kind. */
export interface NodeOf<Kind extends OperationKind> extends GraphNode {
  readonly operation: OperationOf<Kind>;
}

/** An input or output of a graph with its public name. */
export interface NamedValue {
  readonly name: string;
  readonly value: Value;
}

/** A graph. Nodes are in topological order: a node reads only inputs, constants and outputs of earlier nodes. */
export interface Graph {
  readonly inputs: readonly NamedValue[];
  readonly nodes: readonly GraphNode[];
  readonly outputs: readonly NamedValue[];
}

/** The tensor type of a literal. */
export function getType({ dataType, shape }: Literal): TensorType {
  return { dataType, shape };
}
