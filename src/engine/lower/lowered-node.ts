/** How the operations of a graph become calls of kernels. Plain data: running a plan is a loop. */
import type { TensorData } from "../../tensor.ts";
import type { Kernel } from "../codegen/wasm/index.ts";
import type { GraphNode, Value } from "../ir/graph.ts";
import type { Literal } from "../ir/literal.ts";

/** Something in memory that a kernel is handed the place of. */
export type Operand =
  | { readonly kind: "tensor"; readonly value: Value; readonly byteOffset: number }
  | { readonly kind: "packed"; readonly weights: PackedWeights }
  /** Memory of this node's calls alone, by its place in `LoweredNode.temporaries`. */
  | { readonly kind: "temporary"; readonly index: number; readonly byteOffset?: number };

/** Weights in the order in which a kernel reads them. */
export interface PackedWeights {
  readonly source: Literal;
  /** The same source packed alike has the same name. */
  readonly layout: string;
  readonly bytes: number;
  /** Writes them in that order. Where it is absent they lie as the source has them. */
  pack?(target: Uint8Array, elements: TensorData): void;
  /** The source's elements, to the bit, where that is simple: then the source need not keep them. */
  unpack?(packed: Uint8Array): TensorData;
}

export interface LoweredCall {
  readonly kernel: Kernel;
  /** In the order of the kernel's parameters, without scratch memory. */
  readonly operands: readonly Operand[];
}

export interface LoweredNode {
  readonly calls: readonly LoweredCall[];
  /** Bytes of each. */
  readonly temporaries?: readonly number[];
  /** Inputs that the output may be written over, where nothing else needs them. */
  readonly inPlace?: readonly Value[];
  /** Whether that is so only where no other input lies there as well: elements are not read where they are written. Default: false. */
  readonly requiresUniqueBuffer?: boolean;
}

/** What the rest of the graph has to do with a node. */
export interface LoweringContext {
  /** Whether anybody uses an output of the node. */
  isOutputUsed(output: number): boolean;
  /** Whether all that use these quantised activations take them as rows of bytes: then they lie so, else as the int16 they are. */
  hasByteLayout(value: Value | undefined): boolean;
  /** By key, whether code can be written for a kernel of which that is not sure. Filled as it is found out. */
  readonly emittable: Map<string, boolean>;
}

/** Gives the calls of a node, or undefined where the interpreter must compute it. */
export type LoweringRule<Node extends GraphNode = GraphNode> = (
  node: Node,
  surroundings: LoweringContext,
) => LoweredNode | undefined;

export function tensorOperand(value: Value | undefined, byteOffset = 0): Operand {
  if (value === undefined) throw new Error("an operand is missing");
  return { kind: "tensor", value, byteOffset };
}

/** One kernel, with its operands. */
export function singleCall(kernel: Kernel, ...operands: readonly Operand[]): LoweredNode {
  return { calls: [{ kernel, operands }] };
}
