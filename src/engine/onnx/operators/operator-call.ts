/** One use of an ONNX operator while a model is traced: its inputs, its attributes, and where it builds what it means. */
import { describeType, type Value } from "../../ir/graph.ts";
import { type Literal, integersOf } from "../../ir/literal.ts";
import type { OnnxAttribute, OnnxAttributeKind, OnnxAttributeValues, OnnxGraph, OnnxNode } from "../onnx-model.ts";
import type { Builder } from "../../build/builder.ts";
import { TensorOps } from "../../build/tensor-ops.ts";
import type { InterpretedLoop } from "../../build/data-dependency.ts";
import { isTensor, type TracedValue } from "../../build/traced-value.ts";

/** Graphs inside the model's own (a branch, the body of a loop), which see the names around them. */
export interface Subgraphs {
  /** Builds what the graph computes, here. */
  trace(graph: OnnxGraph, inputs: readonly TracedValue[]): readonly TracedValue[];
  /** Makes a model of its own of the graph. */
  capture(graph: OnnxGraph): SubgraphClosure;
}

/** Its inputs and outputs are named by their places. */
export interface SubgraphClosure extends Pick<InterpretedLoop, "body" | "captures"> {}

export class OperatorCall extends TensorOps {
  readonly node: OnnxNode;
  /** Version of the operator set the node is written for. */
  readonly version: number;
  readonly subgraphs: Subgraphs;
  readonly #inputs: readonly (TracedValue | undefined)[];
  readonly #readAttributes = new Set<string>();

  constructor(node: OnnxNode, version: number, inputs: readonly (TracedValue | undefined)[], build: Builder, inner: Subgraphs) {
    super(build);
    this.node = node;
    this.version = version;
    this.#inputs = inputs;
    this.subgraphs = inner;
  }

  /** Whatever kind it is of. Error where it is missing. */
  input(index: number): TracedValue {
    const input = this.#inputs[index];
    if (input === undefined) throw new Error(`it lacks its input ${index}`);
    return input;
  }

  inputIfGiven(index: number): TracedValue | undefined {
    return this.#inputs[index];
  }

  get inputCount(): number {
    return this.#inputs.length;
  }

  tensor(index: number): Value {
    return asTensor(this.input(index), index);
  }

  tensorIfGiven(index: number): Value | undefined {
    const input = this.#inputs[index];
    return input === undefined ? undefined : asTensor(input, index);
  }

  /** All inputs from `first` on. */
  tensors(first = 0): readonly Value[] {
    return Array.from({ length: this.#inputs.length - first }, (_, index) => this.tensor(first + index));
  }

  /** The elements of an input that must be known before the model runs. */
  known(index: number): Literal {
    return this.builder.known(this.tensor(index), this.#what(index));
  }

  /** The same of an input whose elements decide over the shape of the result, and are no parameter. */
  knownData(index: number): Literal {
    return this.builder.knownData(this.tensor(index), this.#what(index));
  }

  knownIntegers(index: number): readonly number[] {
    return integersOf(this.known(index));
  }

  knownIntegersIfGiven(index: number): readonly number[] | undefined {
    return this.#inputs[index] === undefined ? undefined : this.knownIntegers(index);
  }

  /** Whether an output has a name, so that somebody may use it. */
  usesOutput(output: number): boolean {
    return (this.node.outputs[output] ?? "") !== "";
  }

  int(name: string, otherwise: number): number {
    return this.#attribute(name, "int") ?? otherwise;
  }

  intIfGiven(name: string): number | undefined {
    return this.#attribute(name, "int");
  }

  ints(name: string): readonly number[] | undefined {
    return this.#attribute(name, "ints");
  }

  float(name: string, otherwise: number): number {
    return this.#attribute(name, "float") ?? otherwise;
  }

  floatIfGiven(name: string): number | undefined {
    return this.#attribute(name, "float");
  }

  floats(name: string): readonly number[] | undefined {
    return this.#attribute(name, "floats");
  }

  string(name: string, otherwise: string): string {
    return this.#attribute(name, "string") ?? otherwise;
  }

  strings(name: string): readonly string[] | undefined {
    return this.#attribute(name, "strings");
  }

  literal(name: string): Literal | undefined {
    return this.#attribute(name, "tensor");
  }

  graph(name: string): OnnxGraph {
    const graph = this.#attribute(name, "graph");
    if (graph === undefined) throw new Error(`it lacks its graph "${name}"`);
    return graph;
  }

  attribute(name: string): OnnxAttribute | undefined {
    this.#readAttributes.add(name);
    return this.node.attributes.get(name);
  }

  /** Says that an attribute changes nothing here: those that were never asked for are refused. */
  ignore(...names: readonly string[]): void {
    for (const name of names) this.#readAttributes.add(name);
  }

  /** Attributes of the node that nobody asked for. */
  get unreadAttributes(): readonly string[] {
    return [...this.node.attributes.keys()].filter((name) => !this.#readAttributes.has(name));
  }

  #what(index: number): string {
    return `input ${index} of ${this.node.operator} "${this.node.name}"`;
  }

  #attribute<Kind extends OnnxAttributeKind>(name: string, kind: Kind): OnnxAttributeValues[Kind] | undefined {
    const attribute = this.attribute(name);
    if (attribute === undefined) return undefined;
    if (attribute.kind !== kind) throw new Error(`its attribute "${name}" is of kind ${attribute.kind}, and ${kind} is wanted`);
    return attribute.value as OnnxAttributeValues[Kind];
  }
}

/** An axis counted from the end where it is negative. Error where there is none. */
export function normalizeAxis(axis: number, rank: number): number {
  const counted = axis < 0 ? axis + rank : axis;
  if (counted < 0 || counted >= rank) throw new Error(`there is no axis ${axis} of ${rank}`);
  return counted;
}

/** Axes counted from 0, in order, each once. */
export function normalizeAxes(axes: readonly number[], rank: number): readonly number[] {
  const counted = axes.map((axis) => normalizeAxis(axis, rank)).sort((one, other) => one - other);
  if (new Set(counted).size !== counted.length) throw new Error(`the axes [${axes.join(", ")}] name one twice`);
  return counted;
}

function asTensor(input: TracedValue, index: number): Value {
  if (!isTensor(input)) throw new Error(`its input ${index} is no tensor`);
  return input;
}

/** For messages: the types of the inputs. */
export function describeInputs(inputs: readonly (TracedValue | undefined)[]): string {
  return inputs
    .slice(0, 16)
    .map((input) =>
      input === undefined ? "none" : isTensor(input) ? describeType(input.type) : "items" in input ? "a sequence" : "an optional",
    )
    .join(", ");
}
