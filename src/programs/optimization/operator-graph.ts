/** ONNX graphs as rewrites read and change them. */
import { required } from "../../contract/checked.ts";
import { elementCount } from "../../contract/tensor.ts";
import { Builder } from "../../engine/build/builder.ts";
import { TraceBudget } from "../../engine/build/trace-budget.ts";
import { isTensor } from "../../engine/build/traced-value.ts";
import { isFloat } from "../../engine/ir/element-types.ts";
import type { Value } from "../../engine/ir/graph.ts";
import { int64Literal, type Literal, toIntegers } from "../../engine/ir/literal.ts";
import type { TensorType } from "../../engine/ir/tensor-type.ts";
import type { OnnxAttribute, OnnxGraph, OnnxModel, OnnxNode } from "../../engine/onnx/onnx-model.ts";
import { traceModel } from "../../engine/onnx/trace-model.ts";
import { namesUsed } from "../../engine/onnx/used-names.ts";

/** Constants of at least so many floats are not folded while a graph is traced for its types. */
const minSymbolicElements = 64;

/** The type of each input of a model, for given sizes of its free dimensions. */
export type InputTypes = ReadonlyMap<string, TensorType>;

/** A model whose values have known types. Immutable. */
export class OperatorGraph {
  readonly model: OnnxModel;
  readonly inputTypes: InputTypes;
  readonly types: ReadonlyMap<string, TensorType>;
  readonly #producers = new Map<string, OnnxNode>();
  readonly #readers = new Map<string, OnnxNode[]>();
  readonly #constants = new Set<string>();
  readonly #outputs: ReadonlySet<string>;

  /** Traces the model for the types of its values. Throws MODEL_UNSUPPORTED and MODEL_INVALID for operators that do not take their inputs. */
  constructor(model: OnnxModel, inputTypes: InputTypes) {
    this.model = model;
    this.inputTypes = inputTypes;
    const { graph } = model;
    this.#outputs = new Set(graph.outputs.map(({ name }) => name));
    for (const name of graph.initializers.keys()) this.#constants.add(name);
    for (const node of graph.nodes) {
      const used = namesUsed([node]);
      for (const name of used) this.#readers.set(name, [...(this.#readers.get(name) ?? []), node]);
      for (const name of node.outputs) this.#producers.set(name, node);
      if (used.size > 0 && [...used].every((name) => this.#constants.has(name)) && isPure(node))
        for (const name of node.outputs) this.#constants.add(name);
    }
    this.types = traceTypes(model, inputTypes);
  }

  get nodes(): readonly OnnxNode[] {
    return this.model.graph.nodes;
  }

  /** The version of the standard operator set. */
  get version(): number {
    return this.model.opsets.get("") ?? 1;
  }

  /** The node of the standard domain that computes a value, if its operator is one of these. */
  producer(name: string | undefined, ...operators: readonly string[]): OnnxNode | undefined {
    const node = name === undefined ? undefined : this.#producers.get(name);
    return node !== undefined && isOperator(node, operators) ? node : undefined;
  }

  /** The nodes that read a value, also in their subgraphs. */
  readers(name: string): readonly OnnxNode[] {
    return this.#readers.get(name) ?? [];
  }

  /** Whether a value is read once, by one node, and is no output. */
  hasOneUse(name: string): boolean {
    const [reader, ...others] = this.readers(name);
    if (reader === undefined || others.length > 0 || this.#outputs.has(name)) return false;
    return reader.inputs.filter((input) => input === name).length === 1;
  }

  isOutput(name: string): boolean {
    return this.#outputs.has(name);
  }

  /** Whether a value is the same in all runs: a weight, or computed from weights. */
  isConstant(name: string | undefined): boolean {
    return name !== undefined && this.#constants.has(name);
  }

  /** The elements of a weight. */
  literal(name: string | undefined): Literal | undefined {
    return name === undefined ? undefined : this.model.graph.initializers.get(name);
  }

  /** The whole numbers of a constant tensor of integers. */
  integers(name: string | undefined): readonly number[] | undefined {
    const literal = this.literal(name);
    return literal === undefined || !literal.dataType.startsWith("int") ? undefined : toIntegers(literal);
  }

  /** The shape of a float value; undefined for other types. */
  floatShape(name: string | undefined): readonly number[] | undefined {
    const type = name === undefined ? undefined : this.types.get(name);
    return type !== undefined && isFloat(type.dataType) ? type.shape : undefined;
  }
}

/** Whether a node of the standard domain has one of these operators; an empty list takes all. */
export function isOperator({ domain, operator }: OnnxNode, operators: readonly string[]): boolean {
  return domain === "" && (operators.length === 0 || operators.includes(operator));
}

const impure: ReadonlySet<string> = new Set([
  "RandomNormal",
  "RandomNormalLike",
  "RandomUniform",
  "RandomUniformLike",
  "Bernoulli",
  "Multinomial",
  "Dropout",
]);

/** Whether equal inputs have equal outputs. */
export function isPure(node: OnnxNode): boolean {
  return (
    node.domain === "" &&
    !impure.has(node.operator) &&
    ![...node.attributes.values()].some(({ kind }) => kind === "graph" || kind === "graphs")
  );
}

/** An attribute that is a whole number. */
export function intAttribute({ attributes }: OnnxNode, name: string, otherwise: number): number {
  const attribute = attributes.get(name);
  return attribute?.kind === "int" ? attribute.value : otherwise;
}

/** An attribute that is a list of whole numbers. */
export function intsAttribute({ attributes }: OnnxNode, name: string): readonly number[] | undefined {
  const attribute = attributes.get(name);
  return attribute?.kind === "ints" ? attribute.value : undefined;
}

/** Attributes by name: whole numbers, lists of them, and texts. */
export function toAttributes(
  given: Readonly<Record<string, number | readonly number[] | string>>,
): ReadonlyMap<string, OnnxAttribute> {
  return new Map(
    Object.entries(given).map(([name, value]): [string, OnnxAttribute] => {
      if (typeof value === "number") return [name, { kind: "int", value }];
      return [name, typeof value === "string" ? { kind: "string", value } : { kind: "ints", value }];
    }),
  );
}

/** Values of tensors of this type that are not known. */
export function unknownValue(type: TensorType): Value {
  return { type };
}

function traceTypes(model: OnnxModel, inputTypes: InputTypes): ReadonlyMap<string, TensorType> {
  const { graph } = model;
  const known = new Map([...inputTypes].map(([name, type]) => [name, unknownValue(type)]));
  for (const [name, { dataType, shape }] of graph.initializers)
    if (isFloat(dataType) && elementCount(shape) >= minSymbolicElements) known.set(name, unknownValue({ dataType, shape }));
  const names = graph.nodes.flatMap((node) => node.outputs.filter((name) => name !== ""));
  const outputs = names.map((name) => ({ name, type: { kind: "other", name: "unstated" } as const }));
  const budget = new TraceBudget({ weightElements: model.elementCount });
  const traced = traceModel({ ...model, graph: { ...graph, outputs } }, known, new Builder(budget));
  const types = new Map<string, TensorType>();
  for (const [name, value] of traced) if (isTensor(value)) types.set(name, value.type);
  for (const [name, type] of inputTypes) types.set(name, type);
  for (const [name, { dataType, shape }] of graph.initializers) types.set(name, { dataType, shape });
  return types;
}

/** Changes of one graph: new nodes, and values that are now computed by them. */
export class GraphEdit {
  readonly added: OnnxNode[] = [];
  readonly replaced: string[] = [];
  readonly #graph: OperatorGraph;
  readonly #site: string;
  readonly #initializers = new Map<string, Literal>();

  /** `site`: the value that the rewrite is named after; names of new values begin with it. */
  constructor(graph: OperatorGraph, site: string) {
    this.#graph = graph;
    this.#site = site;
  }

  /** The constants that were added. */
  get initializers(): ReadonlyMap<string, Literal> {
    return this.#initializers;
  }

  /** Adds a node with one output, and returns its name. */
  add(operator: string, inputs: readonly string[], attributes: OnnxNode["attributes"] = new Map()): string {
    return required(this.addMany(1, operator, inputs, attributes)[0], "an output");
  }

  /** Adds a node with so many outputs, and returns their names. */
  addMany(
    count: number,
    operator: string,
    inputs: readonly string[],
    attributes: OnnxNode["attributes"] = new Map(),
  ): readonly string[] {
    const outputs = Array.from({ length: count }, (_, index) =>
      this.#name(`${this.added.length}${count === 1 ? "" : `_${index}`}`),
    );
    this.#push(operator, inputs, attributes, outputs);
    return outputs;
  }

  /** Lets a node compute values of the graph in place of the nodes that do so now. */
  replace(
    outputs: readonly string[],
    operator: string,
    inputs: readonly string[],
    attributes: OnnxNode["attributes"] = new Map(),
  ): void {
    this.replaced.push(...outputs);
    this.#push(operator, inputs, attributes, outputs);
  }

  /** Adds a constant. */
  literal(literal: Literal): string {
    const name = this.#name(`constant${this.#initializers.size}`);
    this.#initializers.set(name, literal);
    return name;
  }

  /** Adds a vector of int64, as shapes, axes and sizes are. */
  integers(values: readonly number[]): string {
    return this.literal(int64Literal(values));
  }

  /** Splits a value along an axis into parts of these sizes; with `outputs` the parts are values of the graph. */
  split(value: string, axis: number, sizes: readonly number[], outputs?: readonly string[]): readonly string[] {
    const isInput = this.#graph.version >= 13;
    const inputs = isInput ? [value, this.integers(sizes)] : [value];
    const attributes = toAttributes(isInput ? { axis } : { axis, split: sizes });
    if (outputs === undefined) return this.addMany(sizes.length, "Split", inputs, attributes);
    this.replace(outputs, "Split", inputs, attributes);
    return outputs;
  }

  /** Reduces axes by ReduceSum, ReduceMax or ReduceMean, which stay with size 1. */
  reduce(operator: "ReduceSum" | "ReduceMax", value: string, axes: readonly number[]): string {
    const isInput = this.#graph.version >= (operator === "ReduceSum" ? 13 : 18);
    if (isInput) return this.add(operator, [value, this.integers(axes)], toAttributes({ keepdims: 1 }));
    return this.add(operator, [value], toAttributes({ keepdims: 1, axes }));
  }

  /** Adds axes of size 1. */
  unsqueeze(value: string, axes: readonly number[]): string {
    if (this.#graph.version >= 13) return this.add("Unsqueeze", [value, this.integers(axes)]);
    return this.add("Unsqueeze", [value], toAttributes({ axes }));
  }

  /** Removes axes of size 1. */
  squeeze(value: string, axes: readonly number[]): string {
    if (this.#graph.version >= 13) return this.add("Squeeze", [value, this.integers(axes)]);
    return this.add("Squeeze", [value], toAttributes({ axes }));
  }

  /** The model after the changes, without what nothing reads any more. Throws Error if a node would lose one of its outputs alone. */
  apply(): OnnxModel {
    const { model } = this.#graph;
    const replaced = new Set(this.replaced);
    const kept = model.graph.nodes.filter((node) => !node.outputs.some((name) => replaced.has(name)));
    const lost = model.graph.nodes.find(
      (node) =>
        node.outputs.some((name) => replaced.has(name)) && node.outputs.some((name) => name !== "" && !replaced.has(name)),
    );
    if (lost !== undefined) throw new Error(`only some outputs of ${lost.operator} would be replaced`);
    const initializers = new Map([...model.graph.initializers, ...this.#initializers]);
    return withGraph(model, cleaned({ ...model.graph, nodes: sorted([...kept, ...this.added]), initializers }));
  }

  #push(operator: string, inputs: readonly string[], attributes: OnnxNode["attributes"], outputs: readonly string[]): void {
    this.added.push({ name: outputs[0] ?? "", domain: "", operator, inputs, outputs, attributes });
  }

  #name(suffix: string): string {
    let name = `${this.#site}/${suffix}`;
    while (this.#graph.types.has(name)) name = `${name}_`;
    return name;
  }
}

/** The model with another graph. */
export function withGraph(model: OnnxModel, graph: OnnxGraph): OnnxModel {
  const elements = [...graph.initializers.values()].reduce((sum, { shape }) => sum + elementCount(shape), 0);
  return { ...model, graph, elementCount: Math.max(elements, model.elementCount) };
}

/** Nodes in topological order, as close to the given order as it permits. */
function sorted(nodes: readonly OnnxNode[]): readonly OnnxNode[] {
  const producers = new Map(nodes.flatMap((node) => node.outputs.map((name): [string, OnnxNode] => [name, node])));
  const result = new Set<OnnxNode>();
  const open: { readonly node: OnnxNode; readonly inputs: Iterator<string> }[] = [];
  for (const first of nodes) {
    open.push({ node: first, inputs: namesUsed([first]).values() });
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      const { value, done } = result.has(top.node) ? { value: "", done: true } : top.inputs.next();
      if (done === true) {
        result.add(top.node);
        open.pop();
        continue;
      }
      const producer = producers.get(value);
      if (producer !== undefined && !result.has(producer)) open.push({ node: producer, inputs: namesUsed([producer]).values() });
      if (open.length > nodes.length + 1) throw new Error("the rewritten graph has a circle");
    }
  }
  return [...result];
}

/** The graph without nodes and initializers that nothing reads. */
export function cleaned(graph: OnnxGraph): OnnxGraph {
  const used = new Set(graph.outputs.map(({ name }) => name));
  const nodes: OnnxNode[] = [];
  for (const node of graph.nodes.toReversed()) {
    if (!node.outputs.some((name) => used.has(name))) continue;
    for (const name of namesUsed([node])) used.add(name);
    nodes.push(node);
  }
  const declared = new Set(graph.inputs.map(({ name }) => name));
  const initializers = new Map([...graph.initializers].filter(([name]) => used.has(name) || declared.has(name)));
  return { ...graph, nodes: nodes.reverse(), initializers };
}
