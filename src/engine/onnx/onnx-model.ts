/** An ONNX model in memory, in the structure of its file. Names follow https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3. */
import type { ElementType } from "../ir/element-types.ts";
import type { Literal } from "../ir/literal.ts";
import type { OnnxDimension } from "../../formats/onnx/onnx-value.ts";

/** An ONNX model as parsed from its file: the main graph, its functions and operator set versions. */
export interface OnnxModel {
  /** Version of the ONNX file format. */
  readonly irVersion: number;
  /** Versions of the operator sets, by domain; the standard one is "". */
  readonly opsets: ReadonlyMap<string, number>;
  readonly graph: OnnxGraph;
  /** Functions that the file defines, by "domain:name". */
  readonly functions: ReadonlyMap<string, OnnxFunction>;
  /** Number of elements of all tensors, including tensors in attributes of nodes. */
  readonly elementCount: number;
}

/** A graph of an ONNX model: the main one, or a subgraph of If, Loop or Scan. */
export interface OnnxGraph {
  readonly name: string;
  /** Nodes in topological order. */
  readonly nodes: readonly OnnxNode[];
  /** Tensors that the graph holds, by name. */
  readonly initializers: ReadonlyMap<string, Literal>;
  readonly inputs: readonly OnnxValueInfo[];
  readonly outputs: readonly OnnxValueInfo[];
}

/** A function that the file defines and graphs use like an operator. */
export interface OnnxFunction {
  readonly domain: string;
  readonly name: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly nodes: readonly OnnxNode[];
  readonly opsets: ReadonlyMap<string, number>;
  /** Values of attributes that a node which calls the function does not set. */
  readonly defaults: ReadonlyMap<string, OnnxAttribute>;
}

/** One use of an operator or a function. */
export interface OnnxNode {
  readonly name: string;
  readonly domain: string;
  readonly operator: string;
  /** Names of the inputs; "" for an optional input that is absent. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: ReadonlyMap<string, OnnxAttribute>;
}

/** The value of an attribute, by its kind. Integers beyond 2^53 are clamped to the safe range: sizes and indices are never that large. */
export interface OnnxAttributeValues {
  readonly float: number;
  readonly int: number;
  readonly string: string;
  readonly tensor: Literal;
  readonly graph: OnnxGraph;
  readonly floats: readonly number[];
  readonly ints: readonly number[];
  readonly strings: readonly string[];
  readonly tensors: readonly Literal[];
  readonly graphs: readonly OnnxGraph[];
  readonly type: OnnxType;
  /** In the body of a function: the name of the calling node's attribute whose value is used. */
  readonly reference: string;
}

/** The kinds of attributes of an ONNX node: float, int, string, tensor, graph and lists of these. */
export type OnnxAttributeKind = keyof OnnxAttributeValues;

/** An attribute of a node as written in the file: its kind and its value. */
export type OnnxAttribute = {
  readonly [Kind in OnnxAttributeKind]: { readonly kind: Kind; readonly value: OnnxAttributeValues[Kind] };
}[OnnxAttributeKind];

/** The type of a value. */
export type OnnxType =
  | { readonly kind: "tensor"; readonly dataType: ElementType; readonly shape?: readonly OnnxDimension[] }
  | { readonly kind: "sequence"; readonly element: OnnxType }
  | { readonly kind: "optional"; readonly element: OnnxType }
  /** A type that no supported operator has: a map, a sparse tensor, or an unstated type. */
  | { readonly kind: "other"; readonly name: string };

/** The name and type of an input or output of a graph. */
export interface OnnxValueInfo {
  readonly name: string;
  readonly type: OnnxType;
}
