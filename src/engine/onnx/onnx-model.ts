/** An ONNX model in memory, as its file says it. Field names follow https://github.com/onnx/onnx/blob/main/onnx/onnx.proto3. */
import type { ElementType } from "../ir/element-types.ts";
import type { Literal } from "../ir/literal.ts";

export interface OnnxModel {
  readonly irVersion: number;
  /** Versions of operator sets by domain; the standard one is "". */
  readonly opsets: ReadonlyMap<string, number>;
  readonly graph: OnnxGraph;
  /** By "domain:name". */
  readonly functions: ReadonlyMap<string, OnnxFunction>;
  /** Elements of all tensors in it, those in nodes among them. */
  readonly elementCount: number;
}

export interface OnnxGraph {
  readonly name: string;
  readonly nodes: readonly OnnxNode[];
  readonly initializers: ReadonlyMap<string, Literal>;
  readonly inputs: readonly OnnxValueInfo[];
  readonly outputs: readonly OnnxValueInfo[];
}

export interface OnnxFunction {
  readonly domain: string;
  readonly name: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly nodes: readonly OnnxNode[];
  readonly opsets: ReadonlyMap<string, number>;
  /** Values of attributes that a caller leaves out. */
  readonly defaults: ReadonlyMap<string, OnnxAttribute>;
}

export interface OnnxNode {
  readonly name: string;
  readonly domain: string;
  readonly operator: string;
  /** "" where an optional one is left out. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: ReadonlyMap<string, OnnxAttribute>;
}

/** What an attribute of each kind holds. Whole numbers beyond 2^53 are brought to the ends of the safe range: what they name is never as large. */
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
  /** In the body of a function: the value of the caller's attribute of this name. */
  readonly reference: string;
}

export type OnnxAttributeKind = keyof OnnxAttributeValues;

export type OnnxAttribute = {
  readonly [Kind in OnnxAttributeKind]: { readonly kind: Kind; readonly value: OnnxAttributeValues[Kind] };
}[OnnxAttributeKind];

export type OnnxType =
  | { readonly kind: "tensor"; readonly dataType: ElementType; readonly shape?: readonly OnnxDimension[] }
  | { readonly kind: "sequence"; readonly element: OnnxType }
  | { readonly kind: "optional"; readonly element: OnnxType }
  /** Of a kind no operator here takes: a map, a sparse tensor, one that is not stated. */
  | { readonly kind: "other"; readonly name: string };

/** A number is fixed, a text names a free dimension, null is free without a name. */
export type OnnxDimension = number | string | null;

export interface OnnxValueInfo {
  readonly name: string;
  readonly type: OnnxType;
}
