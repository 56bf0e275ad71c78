/** What a check of generated code consists of, and how one is written. */
import { type GraphNode, getType, type Value } from "../../ir/graph.ts";
import type { Literal } from "../../ir/literal.ts";
import type { Operation } from "../../ir/operations.ts";
import type { X64Level } from "../../../kernels/simd-levels.ts";
import type { BlockKernel } from "../../lower/lowered-node.ts";
import { inferTypes } from "../../ir/shape-inference/index.ts";

/** One check: nodes with the elements of their inputs. The outputs of the last node are compared. */
export interface CheckCase {
  /** Name of the function that is wrong if the results differ; see `KernelFunction`. */
  readonly name: string;
  readonly nodes: readonly GraphNode[];
  /** The elements of every value that no node computes and that is no constant. */
  readonly inputs: ReadonlyMap<Value, Literal>;
  /** Maximum difference, relative to the larger of 1 and the right value. 0: equal. */
  readonly tolerance: number;
  /** Value that the tolerance of each output element is relative to. Default: the larger of 1 and the right value. */
  readonly magnitudes?: Float64Array;
  /** Computes the right outputs of the last node without the engine. Default: the interpreter's. */
  readonly expected?: () => readonly Literal[];
  /** Whether no kernel exists for the types and shapes of the case, so that the interpreter must compute it. Default: a kernel must. */
  readonly isDeclined?: boolean;
  /** Whether the graph is one that no kernel may compute and that the interpreter or planning refuses. It is only planned. Default: it is run. */
  readonly isRefused?: boolean;
  /** Kernel that multiplies the quantized weights of the case. Default: generated code. */
  readonly blockKernel?: BlockKernel;
  /** Level of machine code that the case is lowered for; WebAssembly computes it. Ignored where machine code is called. Default: it is lowered for WebAssembly. */
  readonly machineLevel?: X64Level;
  /** Inputs that are states, see `AppendedState`: of `sequenceCount` sequences each, which have a block of memory of their own. Default: none. */
  readonly states?: readonly Value[];
}

/** An input of a case: a tensor that the kernel reads, or a constant, which lowering may pack. */
export type CaseInput = Literal | { readonly constant: Literal };

/** Relative error that float32 kernels may have: sums in another order, and approximations of functions. */
export const floatTolerance = 4e-6;

/** Sequences in the batch of cases with states. */
export const sequenceCount = 2;

/** Collects the nodes and inputs of one case. */
export class CaseBuilder {
  readonly nodes: GraphNode[] = [];
  readonly inputs: Map<Value, Literal> = new Map();

  /** Adds an input. */
  input(given: CaseInput): Value {
    if ("constant" in given) return { type: getType(given.constant), constant: given.constant };
    const value = { type: getType(given) };
    this.inputs.set(value, given);
    return value;
  }

  /** Adds a node and returns its outputs, with inferred types. */
  node(operation: Operation, inputs: readonly Value[]): readonly Value[] {
    const outputs = inferTypes(
      operation,
      inputs.map(({ type }) => type),
    ).map((type) => ({ type }));
    this.nodes.push({ operation, inputs, outputs });
    return outputs;
  }
}

/** A case of one node. `tolerance`: see `CheckCase`. */
export function single(name: string, operation: Operation, inputs: readonly CaseInput[], tolerance: number = 0): CheckCase {
  const builder = new CaseBuilder();
  builder.node(
    operation,
    inputs.map((each) => builder.input(each)),
  );
  return { name, nodes: builder.nodes, inputs: builder.inputs, tolerance };
}
