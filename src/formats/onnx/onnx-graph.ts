/** The outline of an ONNX graph: its inputs and outputs, its tensors without their elements, and the operators it uses. Subgraphs of If, Loop and Scan are included. */
import type { OnnxMessage } from "./onnx-messages.ts";
import { type OnnxTensorOutline, toTensorOutline } from "./onnx-tensor.ts";
import { type OnnxValue, toOnnxValue } from "./onnx-value.ts";

/** An ONNX operator with the number of nodes that use it. */
export interface OnnxOperatorUse {
  /** The operator's domain; the standard one is "ai.onnx". */
  readonly domain: string;
  readonly name: string;
  /** Number of nodes that use it. */
  readonly count: number;
}

/** The inputs and outputs of an ONNX graph. */
export interface GraphSignature {
  /** Values that a run must be given. Inputs that are initializers too have a default and are left out. */
  readonly inputs: readonly OnnxValue[];
  readonly outputs: readonly OnnxValue[];
}

/** An ONNX graph without the elements of its tensors: inputs, outputs, operators, and the sizes of its weights. */
export interface OnnxGraphOutline extends GraphSignature {
  /** Number of nodes, including nodes of subgraphs. */
  readonly nodes: number;
  readonly operators: readonly OnnxOperatorUse[];
  /** Tensors that the graph holds by name, which are the weights, including tensors of subgraphs. Those of subgraphs are included. */
  readonly initializers: readonly OnnxTensorOutline[];
  /**
   * Tensors that are values of attributes, mostly of Constant nodes, including tensors of subgraphs and functions. Those of subgraphs and functions are
   * included.
   */
  readonly constants: readonly OnnxTensorOutline[];
  /** Types, in the form of `OnnxValue.type`, that the graph states for its intermediate values and for inputs and outputs of subgraphs. */
  readonly intermediateTypes: ReadonlySet<string>;
}

/** What a graph or the body of a function holds, with its subgraphs. */
export class GraphContent {
  readonly #operators = new Map<string, OnnxOperatorUse>();
  readonly #initializers: OnnxTensorOutline[] = [];
  readonly #intermediateTypes = new Set<string>();
  #nodes = 0;
  /** Tensors that are values of attributes. */
  readonly constants: OnnxTensorOutline[] = [];

  /** Operators by the nodes that use them. */
  get operators(): readonly OnnxOperatorUse[] {
    return [...this.#operators.values()];
  }

  /** The outline of the main graph. `others`: constants of functions. Throws Error for an impossible tensor or shape. */
  outline(graph: OnnxMessage<"graph">, others: readonly OnnxTensorOutline[]): OnnxGraphOutline {
    this.#addGraph(graph);
    const initial = new Set(this.#initializers.map(({ name }) => name));
    return {
      inputs: graph.inputs.map(toOnnxValue).filter(({ name }) => !initial.has(name)),
      outputs: graph.outputs.map(toOnnxValue),
      nodes: this.#nodes,
      operators: this.operators,
      initializers: this.#initializers,
      constants: [...others, ...this.constants],
      intermediateTypes: this.#intermediateTypes,
    };
  }

  /** Adds nodes with the tensors and subgraphs of their attributes. */
  addNodes(nodes: readonly OnnxMessage<"node">[]): void {
    for (const { operator: name, domain, attributes } of nodes) {
      const key = `${domain}:${name}`;
      const before = this.#operators.get(key)?.count ?? 0;
      this.#operators.set(key, { domain: domain || "ai.onnx", name, count: before + 1 });
      this.#nodes += 1;
      for (const attribute of attributes) this.#addAttribute(attribute);
    }
  }

  #addGraph({ nodes, initializers, sparseInitializers, valueInfo }: OnnxMessage<"graph">): void {
    this.addNodes(nodes);
    addTensors(this.#initializers, initializers, sparseInitializers);
    this.#addTypes(valueInfo);
  }

  #addAttribute({ tensor, tensors, graph, graphs, sparseTensor, sparseTensors }: OnnxMessage<"attribute">): void {
    addTensors(this.constants, tensor === undefined ? tensors : [tensor, ...tensors], sparseTensors);
    if (sparseTensor !== undefined) addTensors(this.constants, [], [sparseTensor]);
    for (const inner of graph === undefined ? graphs : [graph, ...graphs]) {
      this.#addGraph(inner);
      this.#addTypes(inner.inputs);
      this.#addTypes(inner.outputs);
    }
  }

  #addTypes(values: readonly OnnxMessage<"value">[]): void {
    for (const value of values) this.#intermediateTypes.add(toOnnxValue(value).type);
  }
}

/** Adds tensors, and the values of sparse ones. */
function addTensors(
  into: OnnxTensorOutline[],
  tensors: readonly OnnxMessage<"tensor">[],
  sparse: readonly OnnxMessage<"sparseTensor">[],
): void {
  for (const tensor of tensors) into.push(toTensorOutline(tensor));
  for (const { values } of sparse) if (values !== undefined) into.push(toTensorOutline(values));
}
