/** A graph as a program in CUDA C. */
import { at } from "../../../../contract/checked.ts";
import { InferyardError } from "../../../../contract/errors.ts";
import type { Graph, GraphNode, Value } from "../../../../engine/ir/graph.ts";
import type { OperationKind } from "../../../../engine/ir/operations.ts";
import { printElements } from "./print-elements.ts";
import { isAlias, printConcat, printGather, printPad, printScatter, printView } from "./print-movement.ts";
import { printProduct } from "./print-products.ts";
import { printArg, printCumulative, printLayerNorm, printReduce, printSoftmax, printTopK } from "./print-rows.ts";
import { printConvolution, printPool } from "./print-windows.ts";
import { type DeviceStep, ProgramText } from "./program-text.ts";

/** A program to compile and run. */
export interface PrintedProgram {
  /** CUDA C. */
  readonly source: string;
  /** Number of kernels in it. */
  readonly kernels: number;
  readonly steps: readonly DeviceStep[];
  /** Values that have the elements of another one, in its memory. */
  readonly aliases: ReadonlyMap<Value, Value>;
}

/** Each printer takes nodes of the kinds under which it is listed. */
type Printer = (text: ProgramText, node: never) => void;

const printers: Readonly<Partial<Record<OperationKind, Printer>>> = {
  unary: printElements,
  binary: printElements,
  select: printElements,
  cast: printElements,
  gelu: printElements,
  elementwise: printElements,
  reduce: printReduce,
  softmax: printSoftmax,
  "layer-norm": printLayerNorm,
  arg: printArg,
  cumulative: printCumulative,
  "top-k": printTopK,
  transpose: printView,
  slice: printView,
  expand: printView,
  concat: printConcat,
  pad: printPad,
  gather: printGather,
  "gather-elements": printGather,
  "gather-nd": printGather,
  "scatter-elements": printScatter,
  "scatter-nd": printScatter,
  convolution: printConvolution,
  "convolution-transpose": printConvolution,
  "max-pool": printPool,
  "average-pool": printPool,
  matmul: printProduct,
  "fused-matmul": printProduct,
  linear: printProduct,
};

/** Prints a graph. `hasCublas`: whether matrix products may be calls of cuBLAS. Throws MODEL_UNSUPPORTED for operations and types without a form in CUDA C. */
export function printGraph(graph: Graph, { hasCublas }: { readonly hasCublas: boolean }): PrintedProgram {
  const text = new ProgramText(hasCublas);
  const aliases = new Map<Value, Value>();
  for (const node of graph.nodes) {
    if (isAlias(node)) {
      const source = at(node.inputs, 0);
      aliases.set(at(node.outputs, 0), aliases.get(source) ?? source);
    } else printNode(text, node);
  }
  return { source: text.source, kernels: text.kernelCount, steps: text.steps, aliases };
}

function printNode(text: ProgramText, node: GraphNode): void {
  const { kind } = node.operation;
  const print = printers[kind] as ((text: ProgramText, node: GraphNode) => void) | undefined;
  if (print === undefined) {
    const name = node.operation.kind === "call" ? `the function ${node.operation.function}` : `the operation ${kind}`;
    throw new InferyardError("MODEL_UNSUPPORTED", `${name} has no kernel on CUDA`);
  }
  print(text, node);
}
