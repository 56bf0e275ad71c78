/** Translates graphs to StableHLO programs (https://openxla.org/stablehlo/spec), which XLA and other compilers accept. */
import { at, required } from "../../../contract/checked.ts";
import { elementCount } from "../../../contract/tensor.ts";
import { InferyardError } from "../../../contract/errors.ts";
import type { Graph, GraphNode, Value } from "../../ir/graph.ts";
import { getType } from "../../ir/graph.ts";
import type { Literal } from "../../ir/literal.ts";
import type { Operation, OperationKind, OperationOf } from "../../ir/operations.ts";
import { describeType, type TensorType } from "../../ir/tensor-type.ts";
import { emitBitcast, emitCast } from "./casts.ts";
import { emitBinary, emitElementwise, emitGelu, emitSelect, emitUnary } from "./elementwise.ts";
import { HloFunction, type HloValue } from "./hlo-function.ts";
import { UnsupportedInStableHlo, tensorTypeText } from "./hlo-types.ts";
import { emitGather, emitGatherElements, emitGatherNd, emitScatterElements, emitScatterNd } from "./indexing.ts";
import { momentSums } from "./moments.ts";
import { emitConcat, emitExpand, emitPad, emitReshape, emitSlice, emitTranspose } from "./movement.ts";
import { emitConvolution, emitConvolutionTranspose, emitFusedMatmul, emitLinear, emitMatmul } from "./products.ts";
import { emitIntegerLinear, emitIntegerMatmul, emitQuantizationRange, emitQuantize, emitSubtractZeroPoint } from "./quantized.ts";
import { emitArg, emitCumulative, emitNorm, emitReduce, emitSoftmax, emitTopK } from "./reductions.ts";
import { emitAveragePool, emitMaxPool } from "./windows.ts";

/**
 * An argument of a program: an input of the graph, by name, or a constant of the graph, which may be a matrix with its axes swapped. Programs of decoders also
 * have the cache of each state and sequence, the number of tokens in the caches of a sequence (int32), and the states of a sequence's source, by name.
 */
export type ProgramArgument =
  | { readonly kind: "input"; readonly name: string; readonly type: TensorType }
  | { readonly kind: "constant"; readonly literal: Literal; readonly type: TensorType; readonly isSwapped?: boolean }
  | { readonly kind: "cache"; readonly state: number; readonly sequence: number; readonly type: TensorType }
  | { readonly kind: "length"; readonly sequence: number; readonly type: TensorType }
  | { readonly kind: "source"; readonly name: string; readonly sequence: number; readonly type: TensorType };

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
  "layer-norm": emitNorm,
  "rms-norm": emitNorm,
  gelu: emitGelu,
  linear: emitLinear,
  "quantization-range": emitQuantizationRange,
  quantize: emitQuantize,
  "subtract-zero-point": emitSubtractZeroPoint,
  "integer-matmul": emitIntegerMatmul,
  "integer-linear": emitIntegerLinear,
  "fused-matmul": emitFusedMatmul,
  elementwise: emitElementwise,
  call: (hlo, { function: name, implementation }, inputs, results) => {
    if (implementation?.stableHlo === undefined) throw new UnsupportedInStableHlo(`the function "${name}"`);
    const { stableHlo } = implementation;
    return hlo.statements(inputs, results, (operands) => stableHlo(operands));
  },
};

/**
 * Translates a graph to a StableHLO program. Throws MODEL_UNSUPPORTED if operations or types of the graph cannot be expressed; `data.operations`
 * lists each of them once, with the reason.
 */
export function emitGraph(graph: Graph): StableHloProgram {
  const program = new ProgramText(graph);
  for (const { name, value } of graph.inputs) program.addInput(name, value);
  program.emitNodes(momentSums(graph, program.hlo, (value) => program.read(value)));
  return program.end(graph.outputs.map(({ name, value }) => ({ name, value: program.read(value) })));
}

/** The text of a program while a graph is translated to it, node by node. */
export class ProgramText {
  /** The body of `main`. */
  readonly hlo: HloFunction = new HloFunction();
  readonly #graph: Graph;
  readonly #values = new Map<Value, HloValue>();
  readonly #arguments: ProgramArgument[] = [];
  readonly #parameters: string[] = [];
  readonly #refused = new Set<string>();
  readonly #swapsWeights: boolean;
  /** Weights of products, as arguments with swapped axes. */
  readonly #swapped = new Map<Value, HloValue>();

  /**
   * `swapsWeights`: whether products take their weights [depth, columns] as arguments [columns, depth]: products with few rows are then twice as fast on
   * CPUs. Default: false.
   */
  constructor(graph: Graph, { swapsWeights = false }: { readonly swapsWeights?: boolean } = {}) {
    this.#graph = graph;
    this.#swapsWeights = swapsWeights;
  }

  /** Adds an argument. `attributes`: attributes of the parameter by name, such as the result whose memory it gives. */
  addArgument(argument: ProgramArgument, attributes: Readonly<Record<string, string>> = {}): HloValue {
    const value = { name: `%arg${this.#arguments.length}`, type: argument.type };
    this.#arguments.push(argument);
    const settings = Object.entries(attributes).map(([key, text]) => `${key} = ${text}`);
    const suffix = settings.length === 0 ? "" : ` {${settings.join(", ")}}`;
    this.#parameters.push(`${value.name}: ${tensorTypeText(argument.type)}${suffix}`);
    return value;
  }

  /** Adds an argument for an input of the graph. */
  addInput(name: string, value: Value): void {
    refuseUnstated(this.#refused, "an input", () => {
      this.set(value, this.addArgument({ kind: "input", name, type: value.type }));
    });
    if (!this.#values.has(value)) this.set(value, { name: "%none", type: value.type });
  }

  /** Sets the value in the program that represents a value of the graph. */
  set(value: Value, stated: HloValue): void {
    this.#values.set(value, stated);
  }

  /** The value in the program that represents a value of the graph: a constant is added to the text of the program, or to its arguments if it is large. */
  read(value: Value): HloValue {
    const known = this.#values.get(value);
    if (known !== undefined) return known;
    const literal = required(value.constant, "a value that no node defines");
    const type = getType(literal);
    tensorTypeText(type); // refuses types without a name
    const isArgument = elementCount(type.shape) > maxInlineElements;
    const stated = isArgument ? this.addArgument({ kind: "constant", literal, type }) : this.hlo.constant(literal);
    this.set(value, stated);
    return stated;
  }

  /** What an operand of a node is in the program. */
  #readOperand({ operation: { kind }, inputs }: GraphNode, value: Value): HloValue {
    const isProduct = kind === "linear" || kind === "matmul";
    const { constant: literal } = value;
    const isWeights = isProduct && inputs.indexOf(value) === 1 && value.type.shape.length === 2;
    if (!this.#swapsWeights || !isWeights || literal === undefined || elementCount(value.type.shape) <= maxInlineElements)
      return this.read(value);
    const known = this.#swapped.get(value);
    if (known !== undefined) return known;
    const type = getType(literal);
    const swapped = this.addArgument({
      kind: "constant",
      literal,
      type: { ...type, shape: type.shape.toReversed() },
      isSwapped: true,
    });
    const stated: HloValue = { name: "%none", type, swapped };
    this.#swapped.set(value, stated);
    return stated;
  }

  /**
   * Translates all nodes. It continues after an unsupported node, so that the error of `end` names all unsupported operations. `others`: nodes with one
   * result that are translated otherwise.
   */
  emitNodes(others: ReadonlyMap<GraphNode, () => HloValue> = new Map()): void {
    const { nodes, outputs } = this.#graph;
    const reads = new Set([...nodes.flatMap(({ inputs }) => inputs), ...outputs.map(({ value }) => value)]);
    for (const node of nodes) {
      refuseUnstated(this.#refused, node.operation.kind, () => {
        const other = others.get(node);
        const results =
          other === undefined ? emitNode(this.hlo, node, (value) => this.#readOperand(node, value), reads) : [other()];
        for (const [index, result] of results.entries()) this.set(at(node.outputs, index), result);
      });
      for (const output of node.outputs) if (!this.#values.has(output)) this.set(output, { name: "%none", type: output.type });
    }
  }

  /** The program with these results. Throws MODEL_UNSUPPORTED if something of the graph cannot be expressed. */
  end(results: readonly { readonly name: string; readonly value: HloValue }[]): StableHloProgram {
    if (this.#refused.size > 0) {
      throw new InferyardError("MODEL_UNSUPPORTED", `StableHLO has no form of ${[...this.#refused].join("; ")}`, {
        data: { operations: [...this.#refused] },
      });
    }
    const types = results.map(({ value }) => tensorTypeText(value.type)).join(", ");
    const end = `"func.return"(${results.map(({ value }) => value.name).join(", ")}) : (${types}) -> ()`;
    const head = `func.func public @main(${this.#parameters.join(", ")}) -> (${types})`;
    const text = `module @graph {\n${head} {\n${[...this.hlo.lines, end].join("\n")}\n}\n}\n`;
    return { text, arguments: this.#arguments, results: results.map(({ name, value }) => ({ name, type: value.type })) };
  }
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
