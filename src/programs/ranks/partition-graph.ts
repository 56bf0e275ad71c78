/** Divides a graph among ranks. */
import { at } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { Graph, GraphNode, Value } from "../../engine/ir/graph.ts";
import { byteSize } from "../../engine/ir/tensor-type.ts";
import { PartBuilder } from "./part-builder.ts";
import type { Parallelism, RankPart } from "./rank-part.ts";
import { evenSplit, type Sharding, replicated } from "./sharding.ts";
import { type NodePlacement, placeNode } from "./sharding-rules.ts";

/** How a graph is divided. */
export interface PartitionSettings {
  readonly ranks: number;
  readonly parallelism: Parallelism;
  /** Axes of the graph's inputs that are divided, by name, for "data-parallel". */
  readonly batchAxes: ReadonlyMap<string, number>;
}

/** A graph whose nodes have their places. */
export interface PartitionedGraph {
  /** The part of a rank. `numberOf`: a number for each constant, equal for equal elements. */
  part(rank: number, numberOf: (value: Value) => number): RankPart;
  /** What is divided, as sentences without a full stop. */
  readonly evidence: readonly string[];
}

/**
 * Divides a graph. Throws MODEL_UNSUPPORTED if no operation can be divided, and for random numbers, which would differ from rank to rank.
 */
export function partitionGraph(graph: Graph, settings: PartitionSettings): PartitionedGraph {
  const random = graph.nodes.find(({ operation }) => operation.kind === "call" && operation.nondeterministic === true);
  if (random?.operation.kind === "call")
    throw new InferyardError("MODEL_UNSUPPORTED", `${random.operation.function} gives other numbers on each rank`, {
      remedy: "give it a seed, or use one rank",
    });
  const placements = settings.parallelism === "pipeline" ? placeStages(graph, settings.ranks) : placeParts(graph, settings);
  const evidence = describePlacements(graph, placements, settings);
  return {
    evidence,
    part: (rank, numberOf) => buildPart(graph, placements, new PartBuilder(rank, numberOf)),
  };
}

type Placements = ReadonlyMap<GraphNode, NodePlacement>;

function placeParts(graph: Graph, { ranks, parallelism, batchAxes }: PartitionSettings): Placements {
  const splitsProducts = parallelism === "tensor-parallel";
  const shardings = new Map<Value, Sharding>();
  if (parallelism === "data-parallel")
    for (const { name, value } of graph.inputs) {
      const axis = batchAxes.get(name);
      if (axis !== undefined) shardings.set(value, evenSplit(axis, at(value.type.shape, axis), ranks));
    }
  const placements = new Map<GraphNode, NodePlacement>();
  for (const node of graph.nodes) {
    const given = node.inputs.map((value) => shardings.get(value) ?? replicated);
    const placement = placeNode(node, { given, ranks, splitsProducts });
    if (placement === undefined) continue;
    placements.set(node, placement);
    for (const [index, output] of node.outputs.entries()) shardings.set(output, at(placement.outputs, index));
  }
  return placements;
}

/** Consecutive nodes for each rank: as many that each has about an equal part of the constants and of the results. */
function placeStages(graph: Graph, ranks: number): Placements {
  const counted = new Set<Value>();
  const costs = graph.nodes.map(({ inputs, outputs }) => {
    const values = [...inputs.filter(({ constant }) => constant !== undefined), ...outputs].filter((each) => !counted.has(each));
    for (const value of values) counted.add(value);
    return 1 + values.reduce((sum, { type }) => sum + byteSize(type), 0);
  });
  const total = costs.reduce((sum, cost) => sum + cost, 0);
  const placements = new Map<GraphNode, NodePlacement>();
  let before = 0;
  for (const [index, node] of graph.nodes.entries()) {
    const cost = at(costs, index);
    const rank = Math.min(ranks - 1, Math.floor(((before + cost / 2) * ranks) / total));
    before += cost;
    const owned: Sharding = { kind: "owned", rank };
    placements.set(node, { inputs: node.inputs.map(() => owned), outputs: node.outputs.map(() => owned) });
  }
  return placements;
}

function describePlacements(graph: Graph, placements: Placements, { ranks, parallelism }: PartitionSettings): readonly string[] {
  const isProduct = ({ operation: { kind } }: GraphNode): boolean =>
    kind === "matmul" || kind === "linear" || kind === "convolution";
  const divided = graph.nodes.filter((node) => placements.has(node));
  const products = divided.filter(isProduct).length;
  if (divided.length === 0 || (parallelism === "tensor-parallel" && products === 0)) {
    const first = graph.nodes.find(isProduct) ?? graph.nodes[0];
    const what =
      parallelism === "data-parallel" ? "no operation keeps the rows of the batch apart" : "no matrix product can be divided";
    const example = first === undefined ? "it has no operations" : `its first is ${describeNode(first)}`;
    throw new InferyardError("MODEL_UNSUPPORTED", `${parallelism} on ${ranks} ranks: ${what}: ${example}`);
  }
  const notDivided = new Set(graph.nodes.filter((node) => !placements.has(node)).map(({ operation: { kind } }) => kind));
  return [
    `${ranks} ranks, ${parallelism}: ${divided.length} of ${graph.nodes.length} operations are divided, ${products} of them products`,
    ...(notDivided.size === 0 ? [] : [`each rank computes whole: ${[...notDivided].join(", ")}`]),
  ];
}

function describeNode({ operation: { kind }, inputs }: GraphNode): string {
  return `${kind}(${inputs.map(({ type }) => `${type.dataType}[${type.shape.join(",")}]`).join(", ")})`;
}

function buildPart(graph: Graph, placements: Placements, builder: PartBuilder): RankPart {
  const inputs = graph.inputs.map(({ name, value }) => ({ name, result: builder.addInput(value) }));
  for (const node of graph.nodes) builder.addNode(node, placements.get(node));
  const outputs = graph.outputs.map(({ name, value }) => ({ name, value: builder.get(value, replicated).value }));
  return builder.finish(inputs, outputs);
}
