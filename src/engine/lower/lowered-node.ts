/** The result of lowering one graph node: kernel calls on symbolic operands, as plain data. The planner turns operands into memory offsets. */
import type { TensorData } from "../../contract/tensor.ts";
import type { IndexType, Kernel } from "../codegen/wasm/index.ts";
import type { GraphNode, Value } from "../ir/graph.ts";
import type { X64Level } from "../../kernels/simd-levels.ts";
import type { QuantizedBlocks } from "../ir/lazy-storage.ts";
import type { Literal } from "../ir/literal.ts";

/** An operand of a kernel call: a tensor, a temporary buffer or packed weights. The planner (`plan/`) resolves it to a byte offset. */
export type Operand =
  /** A tensor of the graph, from `byteOffset` on. `block`: index of the state block that holds this part of a state. Default: 0. */
  | { readonly kind: "tensor"; readonly value: Value; readonly byteOffset: number; readonly block?: number }
  /** A constant in the layout that the kernel reads. */
  | { readonly kind: "packed"; readonly weights: PackedWeights }
  /** Scratch memory shared by the calls of this node only; `index` refers to `LoweredNode.temporaries`. */
  | { readonly kind: "temporary"; readonly index: number; readonly byteOffset?: number };

/** A constant in the layout that a kernel reads: in blocks, padded or reordered. `layout` names the layout. */
export interface PackedWeights {
  /** The constant that is packed. */
  readonly source: Literal;
  /** Name of the layout. The same source with the same layout name is packed once and shared. */
  readonly layout: string;
  /** Size of the packed data in bytes. */
  readonly bytes: number;
  /** Writes the packed data to `target`, which has `bytes` bytes. Default: the elements are stored unchanged, row-major. */
  pack?(target: Uint8Array, elements: TensorData): void;
  /** Writes the packed data from the stored form of the source, without its elements. Default: `pack` is used. */
  packStored?(target: Uint8Array): void;
  /** Restores the source's elements bit for bit, so that the source need not keep its own copy. Absent when the layout is not invertible. */
  unpack?(packed: Uint8Array): TensorData;
}

/** One call of a kernel. */
export type LoweredCall = GeneratedCall | HostCall;

/** One call of a generated kernel. */
export interface GeneratedCall {
  /** Id under which calls are counted. Default: the id of the kernel's family, see `familyKernelId`. */
  readonly id?: string;
  /** The kernel to call. */
  readonly kernel: Kernel;
  /** Operands in the order of `kernel.parameters`, without the scratch parameter. */
  readonly operands: readonly Operand[];
}

/** One call of a kernel that is not generated, on the same memory. */
export interface HostCall {
  /** Id under which calls are counted. */
  readonly id: string;
  readonly host: HostKernel;
  /** In the order of `HostKernel.operandBytes`. */
  readonly operands: readonly Operand[];
}

/** A kernel in plain TypeScript. It runs on the calling thread alone. */
export interface HostKernel {
  /** Size in bytes of each operand. */
  readonly operandBytes: readonly number[];
  /** Computes. The operands are views of engine memory; the last one is the output. Throws RangeError for an index outside of its axis. */
  run(operands: readonly Uint8Array[]): void;
}

/** Kernel that multiplies quantized weights, and its arguments. */
export type BlockKernel =
  /** By generated code, with weights that are packed for it: machine code if a level is given, for the requests that it has, otherwise WebAssembly. */
  | { readonly id: string; readonly kind: "generated"; readonly level?: X64Level }
  /** By plain TypeScript, which reads them as they are stored. */
  | { readonly id: string; readonly kind: "scalar" };

/** The kernel calls that compute one node, in order. */
export interface LoweredNode {
  /** Executed in this order. */
  readonly calls: readonly LoweredCall[];
  /** Sizes in bytes of the temporaries that the calls use. Default: none. */
  readonly temporaries?: readonly number[];
  /** The value that the first call computes temporary 0 of, from nothing else: a later node with an equal first call of the value uses the result. Default: none. */
  readonly prepares?: Value;
  /** Inputs whose buffer the output may overwrite, provided that no later node reads them. Default: none. */
  readonly inPlace?: readonly Value[];
  /** Writing in place also requires that no other input shares the buffer, because the calls write elements before they have read all inputs. Default: false. */
  readonly requiresUniqueBuffer?: boolean;
}

/** Facts about the rest of the graph and the machine that decide which kernel a node is lowered to. */
export interface LoweringContext {
  /** Whether any node or graph output uses output number `output` of the node being lowered. */
  isOutputUsed(output: number): boolean;
  /** Whether machine code with vectors of more than 128 bits computes products, so that weights are packed for it. */
  readonly hasWideVectors: boolean;
  /** Whether all consumers of these quantized activations read them as rows of bytes. Otherwise they are stored as int16. */
  hasByteLayout(value: Value | undefined): boolean;
  /** The kernel that multiplies these weights; undefined if none does, so that the interpreter computes the product. */
  blockKernelFor(blocks: QuantizedBlocks): BlockKernel | undefined;
}

/** Lowers a node of one operation kind. Returns undefined when no kernel supports it; then the interpreter computes the node. */
export type LoweringRule<Node extends GraphNode = GraphNode> = (node: Node, context: LoweringContext) => LoweredNode | undefined;

/** The float32 elements in these bytes. */
export function toFloats({ buffer, byteOffset, byteLength }: Uint8Array): Float32Array {
  return new Float32Array(buffer, byteOffset, byteLength / Float32Array.BYTES_PER_ELEMENT);
}

/** The operand for a tensor of the graph, starting `byteOffset` bytes after its first element. Throws when the node lacks the value. */
export function tensorOperand(value: Value | undefined, byteOffset = 0): Operand {
  if (value === undefined) throw new TypeError("a kernel operand is missing");
  return { kind: "tensor", value, byteOffset };
}

/** The type of the indices of a gather or scatter. */
export function getIndexType(indices: Value | undefined): IndexType | undefined {
  const type = indices?.type.dataType;
  return type === "int64" || type === "int32" ? type : undefined;
}

/** A node lowered to a single kernel call. */
export function singleCall(kernel: Kernel, ...operands: readonly Operand[]): LoweredNode {
  return { calls: [{ kernel, operands }] };
}
