/** Translates graphs to StableHLO programs (https://openxla.org/stablehlo/spec), which XLA and other compilers accept. */
import { at, required } from "../../../contract/checked.ts";
import { elementCount } from "../../../contract/tensor.ts";
import { InferyardError } from "../../../contract/errors.ts";
import type { Graph, GraphNode, Value } from "../../ir/graph.ts";
import { typeOf } from "../../ir/graph.ts";
import type { Literal } from "../../ir/literal.ts";
import type { Operation, OperationKind, OperationOf } from "../../ir/operations.ts";
import { describeType, type TensorType } from "../../ir/tensor-type.ts";
import { emitBitcast, emitCast } from "./casts.ts";
import { emitBinary, emitElementwise, emitGelu, emitSelect, emitUnary } from "./elementwise.ts";
import { HloFunction, type HloValue } from "./hlo-function.ts";
import { UnsupportedInStableHlo, tensorTypeText } from "./hlo-types.ts";
import { emitGather, emitGatherElements, emitGatherNd, emitScatterElements, emitScatterNd } from "./indexing.ts";
import { emitConcat, emitExpand, emitPad, emitReshape, emitSlice, emitTranspose } from "./movement.ts";
import { emitConvolution, emitConvolutionTranspose, emitFusedMatmul, emitLinear, emitMatmul } from "./products.ts";
import { emitIntegerLinear, emitIntegerMatmul, emitQuantizationRange, emitQuantize, emitSubtractZeroPoint } from "./quantized.ts";
import { emitArg, emitCumulative, emitLayerNorm, emitReduce, emitSoftmax, emitTopK } from "./reductions.ts";
import { emitAveragePool, emitMaxPool } from "./windows.ts";

/** An argument of a program: an input of the graph, by name, or a constant of the graph. */
export type ProgramArgument =
  | { readonly kind: "input"; readonly name: string; readonly type: TensorType }
  | { readonly kind: "constant"; readonly literal: Literal; readonly type: TensorType };

/** A graph as a StableHLO module with one function, `main`. */
export interface StableHloProgram {
  readonly text: string;
  /** Arguments of `main` in order. */
  readonly arguments: readonly ProgramArgument[];
  /** Results of `main` in order, by the names of the graph's outputs. */
  readonly results: readonly { readonly name: string; readonly type: TensorType }[];
}

/** Constants with more elements than this are arguments of the program, not part of its text. */
const maxInlineElements = 64;

type Statement<Kind extends OperationKind> = (
  hlo: HloFunction,
  operation: OperationOf<Kind>,
  inputs: readonly HloValue[],
  results: readonly TensorType[],
  isRead: (result: number) => boolean,
) => HloValue | readonly HloValue[];

const statements: { readonly [Kind in OperationKind]: Statement<Kind> } = {
  unary: emitUnary,
  binary: emitBinary,
  select: emitSelect,
  cast: emitCast,
  bitcast: emitBitcast,
  reduce: emitReduce,
  arg: emitArg,
  cumulative: emitCumulative,
  matmul: emitMatmul,
  convolution: emitConvolution,
  "convolution-transpose": emitConvolutionTranspose,
  "max-pool": (hlo, operation, inputs, results, isRead) => emitMaxPool(hlo, operation, inputs, results, isRead(1)),
  "average-pool": emitAveragePool,
  gather: emitGather,
  "gather-elements": emitGatherElements,
  "gather-nd": emitGatherNd,
  "scatter-elements": emitScatterElements,
  "scatter-nd": emitScatterNd,
  slice: emitSlice,
  pad: emitPad,
  concat: emitConcat,
  transpose: emitTranspose,
  reshape: emitReshape,
  expand: emitExpand,
  "top-k": emitTopK,
  softmax: emitSoftmax,
  "layer-norm": emitLayerNorm,
  gelu: emitGelu,
  linear: emitLinear,
  "quantization-range": emitQuantizationRange,
  quantize: emitQuantize,
  "subtract-zero-point": emitSubtractZeroPoint,
  "integer-matmul": emitIntegerMatmul,
  "integer-linear": emitIntegerLinear,
  "fused-matmul": emitFusedMatmul,
  elementwise: emitElementwise,
  call: (_hlo, { function: name }) => {
    throw new UnsupportedInStableHlo(`the function "${name}"`);
  },
};

/**
 * Translates a graph to a StableHLO program. Throws MODEL_UNSUPPORTED if operations or types of the graph cannot be expressed; `data.operations`
 * lists each of them once, with the reason.
 */
export function emitGraph(graph: Graph): StableHloProgram {
  const hlo = new HloFunction();
  const values = new Map<Value, HloValue>();
  const given: ProgramArgument[] = [];
  const parameters: HloValue[] = [];
  const refused = new Set<string>();
  const addArgument = (value: Value, argument: ProgramArgument): HloValue => {
    const parameter = { name: `%arg${given.length}`, type: argument.type };
    given.push(argument);
    parameters.push(parameter);
    values.set(value, parameter);
    return parameter;
  };
  const read = (value: Value): HloValue => {
    const known = values.get(value);
    if (known !== undefined) return known;
    const literal = required(value.constant, "a value that no node defines");
    const type = typeOf(literal);
    tensorTypeText(type); // refuses types without a name
    if (elementCount(type.shape) > maxInlineElements) return addArgument(value, { kind: "constant", literal, type });
    const constant = hlo.constant(literal);
    values.set(value, constant);
    return constant;
  };
  const reads = new Set([...graph.nodes.flatMap(({ inputs }) => inputs), ...graph.outputs.map(({ value }) => value)]);

  for (const { name, value } of graph.inputs) {
    refuseUnstated(refused, "an input", () => tensorTypeText(value.type));
    addArgument(value, { kind: "input", name, type: value.type });
  }
  for (const node of graph.nodes) {
    refuseUnstated(refused, node.operation.kind, () => {
      for (const [index, result] of emitNode(hlo, node, read, reads).entries()) values.set(at(node.outputs, index), result);
    });
    // Translation continues after an unsupported node, so that the error names all unsupported operations.
    for (const output of node.outputs) if (!values.has(output)) values.set(output, { name: "%none", type: output.type });
  }
  const results = graph.outputs.map(({ name, value }) => ({ name, value: read(value) }));
  if (refused.size > 0) {
    throw new InferyardError("MODEL_UNSUPPORTED", `StableHLO has no form of ${[...refused].join("; ")}`, {
      data: { operations: [...refused] },
    });
  }
  const signature = parameters.map(({ name, type }) => `${name}: ${tensorTypeText(type)}`).join(", ");
  const types = results.map(({ value }) => tensorTypeText(value.type)).join(", ");
  const end = `"func.return"(${results.map(({ value }) => value.name).join(", ")}) : (${types}) -> ()`;
  const text = `module @graph {\nfunc.func public @main(${signature}) -> (${types}) {\n${[...hlo.lines, end].join("\n")}\n}\n}\n`;
  return { text, arguments: given, results: results.map(({ name, value }) => ({ name, type: value.type })) };
}

/** Runs `state`. If it throws UnsupportedInStableHlo, adds the kind of operation and the reason to `refused`. */
function refuseUnstated(refused: Set<string>, kind: string, state: () => void): void {
  try {
    state();
  } catch (error) {
    if (!(error instanceof UnsupportedInStableHlo)) throw error;
    refused.add(`${kind} (${error.message})`);
  }
}

function emitNode(
  hlo: HloFunction,
  { operation, inputs, outputs }: GraphNode,
  read: (value: Value) => HloValue,
  reads: ReadonlySet<Value>,
): readonly HloValue[] {
  for (const { type } of outputs) tensorTypeText(type);
  const state = statements[operation.kind] as (...given: Parameters<Statement<OperationKind>>) => HloValue | readonly HloValue[];
  const isRead = (result: number): boolean => outputs[result] !== undefined && reads.has(outputs[result]);
  const types = outputs.map(({ type }) => type);
  const stated = [state(hlo, operation as never, inputs.map(read), types, isRead)].flat() as readonly HloValue[];
  for (const [index, { type }] of stated.entries()) {
    const expected = at(types, index);
    if (describeType(type) !== describeType(expected))
      throw new TypeError(
        `${describeOperation(operation)} gives ${describeType(type)} in StableHLO, expected ${describeType(expected)}`,
      );
  }
  return stated;
}

function describeOperation(operation: Operation): string {
  return "function" in operation ? `${operation.kind} ${operation.function}` : operation.kind;
}
