/** Candidates of a search: rewritten models with settings, and their programs. */
import { at } from "../../contract/checked.ts";
import { elementCount, type Tensor } from "../../contract/tensor.ts";
import type { LruMap } from "../../concurrency/lru-map.ts";
import { Builder } from "../../engine/build/builder.ts";
import { TraceBudget } from "../../engine/build/trace-budget.ts";
import { isTensor } from "../../engine/build/traced-value.ts";
import { isFloat } from "../../engine/ir/element-types.ts";
import type { Value } from "../../engine/ir/graph.ts";
import type { Literal } from "../../engine/ir/literal.ts";
import { byteSize } from "../../engine/ir/tensor-type.ts";
import type { OnnxModel, OnnxNode } from "../../engine/onnx/onnx-model.ts";
import { traceModel } from "../../engine/onnx/trace-model.ts";
import { interpretGraph } from "../compilation/interpret-graph.ts";
import type { ProgramWork } from "./roofline.ts";
import { cleaned, isPure, type OperatorGraph, withGraph } from "./operator-graph.ts";

/** Choices of a backend that a search makes, under their names among the options of `compileProgram`. */
export interface ChosenSettings {
  /** Threads that split each kernel call. Default: as many as the backend chooses. */
  readonly threads?: number;
}

/** One rewrite of a plan. */
export interface RewriteStep {
  readonly rule: string;
  /** The output of the last node that was replaced; undefined: the rule was applied wherever it matches. */
  readonly site?: string | undefined;
}

/** A form of a program. */
export interface ProgramCandidate {
  /** The graph with products of weights not yet computed. */
  readonly graph: OperatorGraph;
  readonly steps: readonly RewriteStep[];
  readonly settings: ChosenSettings;
}

/** Elements up to which a computed constant is kept whatever the size of the model; a larger one than all weights together is computed in each run. */
const minKeptElements = 4096;

/**
 * The model with everything that depends on weights alone computed. `known`: constants of other candidates by a description of how they are computed. Throws ABORTED.
 */
export async function withComputedConstants(
  { model }: OperatorGraph,
  known: Pick<LruMap<Literal>, "get" | "set">,
  signal: AbortSignal | undefined,
): Promise<OnnxModel> {
  const { graph } = model;
  const declared = new Set(graph.inputs.map(({ name }) => name));
  const initializers = new Map(graph.initializers);
  const descriptions = new Map<string, string>();
  const nodes: OnnxNode[] = [];
  for (const node of graph.nodes) {
    const isKnown = node.inputs.every((name) => name === "" || (!declared.has(name) && initializers.has(name)));
    if (!isKnown || !isPure(node) || (node.inputs.length === 0 && node.operator !== "Constant")) {
      nodes.push(node);
      continue;
    }
    const description = JSON.stringify(
      [node.operator, node.inputs.map((name) => descriptions.get(name) ?? name), [...node.attributes]],
      writeBigints,
    );
    const results = new Map<string, Literal>();
    for (const [index, name] of node.outputs.entries()) {
      const found = known.get(`${description} ${index}`);
      if (found !== undefined) results.set(name, found);
    }
    if (results.size < node.outputs.length)
      for (const [name, literal] of await computeNode(model, node, initializers, signal)) results.set(name, literal);
    const after = [...results.values()].reduce((sum, { shape }) => sum + elementCount(shape), 0);
    if (after > Math.max(minKeptElements, model.elementCount)) {
      nodes.push(node);
      continue;
    }
    for (const [index, name] of node.outputs.entries()) {
      const literal = results.get(name);
      if (literal === undefined) continue;
      initializers.set(name, literal);
      descriptions.set(name, `${description} ${index}`);
      known.set(`${description} ${index}`, literal);
    }
  }
  return withGraph(model, cleaned({ ...graph, nodes, initializers }));
}

function writeBigints(_: string, value: unknown): unknown {
  return typeof value === "bigint"
    ? String(value)
    : ArrayBuffer.isView(value)
      ? Array.from(value as Float32Array, String)
      : value;
}

/** The outputs of a node whose inputs are constants, computed by the interpreter without the limits of a trace. */
async function computeNode(
  model: OnnxModel,
  node: OnnxNode,
  initializers: ReadonlyMap<string, Literal>,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, Literal>> {
  const inputs = new Map<string, Value>();
  const given: Record<string, Tensor> = {};
  for (const name of node.inputs) {
    const literal = name === "" ? undefined : initializers.get(name);
    if (literal === undefined) continue;
    const isParameter = !isFloat(literal.dataType) && elementCount(literal.shape) < minKeptElements;
    inputs.set(name, {
      type: { dataType: literal.dataType, shape: literal.shape },
      ...(isParameter ? { constant: literal } : {}),
    });
    if (!isParameter) given[name] = literal as Tensor;
  }
  const names = node.outputs.filter((name) => name !== "");
  const outputs = names.map((name) => ({ name, type: { kind: "other", name: "unstated" } as const }));
  const builder = new Builder(new TraceBudget());
  const traced = traceModel(
    { ...model, graph: { name: "", nodes: [node], initializers: new Map(), inputs: [], outputs } },
    inputs,
    builder,
  );
  const results = [...traced].flatMap(([name, value]) => (isTensor(value) ? [{ name, value }] : []));
  const unknown = [...inputs].filter(([, value]) => value.constant === undefined).map(([name, value]) => ({ name, value }));
  const computed = await interpretGraph(builder.graph(unknown, results), given, signal);
  return new Map(Object.entries(computed) as [string, Literal][]);
}

/** Bytes of the weights of a model. */
export function modelWeightBytes({ graph }: OnnxModel): number {
  return [...graph.initializers.values()].reduce(
    (sum, { dataType, shape }) => sum + (dataType === "string" ? 0 : byteSize({ dataType, shape })),
    0,
  );
}

/** The operators of a graph as a text that equal graphs share, whatever the names of their intermediate values. */
export function describeGraph({ model: { graph }, types }: OperatorGraph): string {
  const numbers = new Map<string, string>();
  const getName = (name: string): string => numbers.get(name) ?? name;
  const lines = graph.nodes.map((node, index) => {
    for (const [output, name] of node.outputs.entries()) numbers.set(name, `%${index}.${output}`);
    return JSON.stringify([node.domain, node.operator, node.inputs.map(getName), [...node.attributes]], writeBigints);
  });
  const inputs = graph.inputs.map(({ name }) => [name, types.get(name)]);
  const constants = [...graph.initializers].map(([name, { dataType, shape, data }]) => [
    name,
    dataType,
    shape,
    elementCount(shape) <= 8 ? Array.from(data as ArrayLike<unknown>, String) : "",
  ]);
  return JSON.stringify([lines, inputs, constants, graph.outputs.map(({ name }) => getName(name))]);
}

/** Floating-point operations of the matrix products of a graph, and bytes that a run must read or write at least once: inputs, weights and outputs. */
export function workOf(graph: OperatorGraph): ProgramWork {
  const { model, types } = graph;
  let operations = 0;
  for (const node of model.graph.nodes) {
    const isProduct = node.domain === "" && (node.operator === "MatMul" || node.operator === "Gemm");
    if (!isProduct || node.outputs.every((name) => graph.isConstant(name))) continue;
    const a = types.get(at(node.inputs, 0))?.shape ?? [];
    const isTransposed = node.attributes.get("transA")?.value === 1;
    const inner = isTransposed ? a.at(-2) : a.at(-1);
    operations += 2 * elementCount(types.get(at(node.outputs, 0))?.shape ?? []) * (inner ?? 1);
  }
  const values = [...model.graph.inputs, ...model.graph.outputs].map(({ name }) => types.get(name));
  const bytes = values.reduce(
    (sum, type) => sum + (type === undefined || type.dataType === "string" ? 0 : byteSize(type)),
    modelWeightBytes(model),
  );
  return { operations, bytes };
}
