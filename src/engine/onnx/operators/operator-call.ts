/** One node of an ONNX graph while it is traced: its inputs, its attributes, and the builder that its translation adds operations to. */
import { required } from "../../../contract/checked.ts";
import type { ElementType } from "../../ir/element-types.ts";
import { type Value } from "../../ir/graph.ts";
import { describeType } from "../../ir/tensor-type.ts";
import { type Literal, toIntegers } from "../../ir/literal.ts";
import type { OnnxAttribute, OnnxAttributeKind, OnnxAttributeValues, OnnxGraph, OnnxNode } from "../onnx-model.ts";
import { toElementType } from "../read-tensor.ts";
import type { Builder } from "../../build/builder.ts";
import { TensorOps } from "../../build/tensor-ops.ts";
import type { InterpretedLoop } from "../../build/data-dependency.ts";
import { isTensor, type TracedValue } from "../../build/traced-value.ts";

/** The subgraphs of a node: branches and loop bodies, which can refer to names of the graphs around them. */
export interface Subgraphs {
  /** Inlines the subgraph: adds its operations to the graph that is being built, and returns its outputs. */
  trace(graph: OnnxGraph, inputs: readonly TracedValue[]): readonly TracedValue[];
  /** Makes the subgraph a model of its own, whose inputs include the values that it captures from outside. */
  capture(graph: OnnxGraph): SubgraphClosure;
}

/** A subgraph as a model of its own. Its inputs and outputs are called "0", "1", ...; `captures` are the values it uses from outside. */
export interface SubgraphClosure extends Pick<InterpretedLoop, "body" | "captures"> {}

/**
 * A node's inputs, attributes and outputs, as its translation reads them. Methods that read an input or attribute throw Error if it is missing or of another
 * kind, unless their name ends with IfGiven or they take a default; the tracer adds the node's name to the message and makes it MODEL_UNSUPPORTED.
 */
export class OperatorCall extends TensorOps {
  readonly node: OnnxNode;
  /** Version of the operator set that the model imports. */
  readonly version: number;
  /** Traces subgraphs of the node. */
  readonly subgraphs: Subgraphs;
  readonly #inputs: readonly (TracedValue | undefined)[];
  readonly #readAttributes = new Set<string>();

  constructor(
    node: OnnxNode,
    version: number,
    inputs: readonly (TracedValue | undefined)[],
    build: Builder,
    subgraphs: Subgraphs,
  ) {
    super(build);
    this.node = node;
    this.version = version;
    this.#inputs = inputs;
    this.subgraphs = subgraphs;
  }

  /** An input of any kind: tensor, sequence or optional. */
  input(index: number): TracedValue {
    const input = this.#inputs[index];
    if (input === undefined) throw new Error(`input ${index} is missing`);
    return input;
  }

  /** An input of any kind; undefined if it is left out. */
  inputIfGiven(index: number): TracedValue | undefined {
    return this.#inputs[index];
  }

  /** The number of inputs, including omitted ones before the last. */
  get inputCount(): number {
    return this.#inputs.length;
  }

  /** An input that is a tensor. */
  tensor(index: number): Value {
    return asTensor(this.input(index), index);
  }

  /** An input that is a tensor; undefined if it is left out. */
  tensorIfGiven(index: number): Value | undefined {
    const input = this.#inputs[index];
    return input === undefined ? undefined : asTensor(input, index);
  }

  /** All inputs from `first` on, which must be tensors. */
  tensors(first = 0): readonly Value[] {
    return Array.from({ length: this.#inputs.length - first }, (_, index) => this.tensor(first + index));
  }

  /** The elements of an input that must be constant, such as a shape. Throws DataDependencyError if they are only known in a run. */
  known(index: number): Literal {
    return this.builder.known(this.tensor(index), this.#inputName(index));
  }

  /** As `known`, for data that determines the shape of the result (NonZero): too much to make the graph depend on its values. */
  knownData(index: number): Literal {
    return this.builder.knownData(this.tensor(index), this.#inputName(index));
  }

  /** The elements of a constant integer input. */
  knownIntegers(index: number): readonly number[] {
    return toIntegers(this.known(index));
  }

  /** The first element of a constant integer input, which is a scalar in most operators. Throws if it has none. */
  knownInteger(index: number): number {
    return required(this.knownIntegers(index)[0], `the element of the input ${this.#inputName(index)}`);
  }

  /** The elements of a constant integer input; undefined if it is left out. */
  knownIntegersIfGiven(index: number): readonly number[] | undefined {
    return this.#inputs[index] === undefined ? undefined : this.knownIntegers(index);
  }

  /** Whether the node names this output, so that others may use it. */
  usesOutput(output: number): boolean {
    return (this.node.outputs[output] ?? "") !== "";
  }

  /** An integer attribute, or the default. */
  int(name: string, otherwise: number): number {
    return this.#attribute(name, "int") ?? otherwise;
  }

  /** An integer attribute, if the node has it. */
  intIfGiven(name: string): number | undefined {
    return this.#attribute(name, "int");
  }

  /** A list of integers, if the node has the attribute. */
  ints(name: string): readonly number[] | undefined {
    return this.#attribute(name, "ints");
  }

  /** A floating-point attribute, or the default. */
  float(name: string, otherwise: number): number {
    return this.#attribute(name, "float") ?? otherwise;
  }

  /** A floating-point attribute, if the node has it. */
  floatIfGiven(name: string): number | undefined {
    return this.#attribute(name, "float");
  }

  /** A list of floats, if the node has the attribute. */
  floats(name: string): readonly number[] | undefined {
    return this.#attribute(name, "floats");
  }

  /** A string attribute, or the default. */
  string(name: string, otherwise: string): string {
    return this.#attribute(name, "string") ?? otherwise;
  }

  /** A list of strings, if the node has the attribute. */
  strings(name: string): readonly string[] | undefined {
    return this.#attribute(name, "strings");
  }

  /** A tensor attribute, if the node has it. */
  literal(name: string): Literal | undefined {
    return this.#attribute(name, "tensor");
  }

  /** An element type that an attribute names by its number in TensorProto.DataType; undefined if absent or 0. */
  elementType(name: string): ElementType | undefined {
    const number = this.intIfGiven(name);
    return number === undefined || number === 0 ? undefined : toElementType(number);
  }

  /** A subgraph attribute. */
  graph(name: string): OnnxGraph {
    const graph = this.#attribute(name, "graph");
    if (graph === undefined) throw new Error(`the subgraph "${name}" is missing`);
    return graph;
  }

  /** An attribute of any kind, if the node has it. */
  attribute(name: string): OnnxAttribute | undefined {
    this.#readAttributes.add(name);
    return this.node.attributes.get(name);
  }

  /** Marks attributes that do not change the result as read. A node with an attribute that no one read is refused. */
  ignore(...names: readonly string[]): void {
    for (const name of names) this.#readAttributes.add(name);
  }

  /** Attributes of the node that its translation has not read. */
  get unreadAttributes(): readonly string[] {
    return [...this.node.attributes.keys()].filter((name) => !this.#readAttributes.has(name));
  }

  #inputName(index: number): string {
    return `input ${index} of ${this.node.operator} "${this.node.name}"`;
  }

  #attribute<Kind extends OnnxAttributeKind>(name: string, kind: Kind): OnnxAttributeValues[Kind] | undefined {
    const attribute = this.attribute(name);
    if (attribute === undefined) return undefined;
    if (attribute.kind !== kind) throw new Error(`the attribute "${name}" is of type ${attribute.kind}, and must be ${kind}`);
    return attribute.value as OnnxAttributeValues[Kind];
  }
}

/** An axis from 0 to rank - 1; a negative one counts from the end. Throws if it is out of range. */
export function normalizeAxis(axis: number, rank: number): number {
  const counted = axis < 0 ? axis + rank : axis;
  if (counted < 0 || counted >= rank) throw new Error(`axis ${axis} is out of range for rank ${rank}`);
  return counted;
}

/** Axes from 0 to rank - 1, ascending. Throws if one is out of range or given twice. */
export function normalizeAxes(axes: readonly number[], rank: number): readonly number[] {
  const counted = axes.map((axis) => normalizeAxis(axis, rank)).sort((one, other) => one - other);
  if (new Set(counted).size !== counted.length) throw new Error(`the axes [${axes.join(", ")}] contain one twice`);
  return counted;
}

function asTensor(input: TracedValue, index: number): Value {
  if (!isTensor(input)) throw new Error(`input ${index} is not a tensor`);
  return input;
}

/** The types of the first 16 inputs as text for error messages, separated by commas. */
export function describeInputs(inputs: readonly (TracedValue | undefined)[]): string {
  return inputs
    .slice(0, 16)
    .map((input) =>
      input === undefined ? "none" : isTensor(input) ? describeType(input.type) : "items" in input ? "a sequence" : "an optional",
    )
    .join(", ");
}
