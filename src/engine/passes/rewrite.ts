/** The framework of the optimization passes: a pass rebuilds a graph node by node. Graphs are immutable; a pass returns a new one. */
import { required } from "../../contract/checked.ts";
import type { Graph, GraphNode, NodeOf, Value } from "../ir/graph.ts";
import { inferTypes } from "../ir/shape-inference/index.ts";
import type { Operation, OperationKind } from "../ir/operations.ts";
import type { ConstantFolder } from "../interpret/evaluate.ts";

/** An optimization: returns an equivalent graph. `fold` evaluates operations on constants; default: the interpreter. */
export type Pass = (graph: Graph, fold?: ConstantFolder) => Graph;

/** Called for each node, whose inputs are already rewritten. Returns the values that replace the node's outputs, or undefined to keep the node. */
export type Visit = (node: GraphNode, rewriter: Rewriter) => readonly Value[] | undefined;

/** The new graph that one pass builds, node by node, with the producers and readers of its values. */
export class Rewriter {
  /** The nodes of the new graph, in order. */
  readonly nodes: GraphNode[] = [];
  readonly #producers = new Map<Value, GraphNode>();
  readonly #original: Graph;
  #uses: ReadonlyMap<Value, number> | undefined;
  /** Use counts of replaced values, by their replacement. */
  readonly #inheritedUses = new Map<Value, number>();

  /** `original` is the graph that is rewritten. */
  constructor(original: Graph) {
    this.#original = original;
  }

  /** Adds a node and returns its first output. Throws if the operation does not accept the types of the inputs. */
  add(operation: Operation, ...inputs: readonly Value[]): Value {
    const types = inferTypes(
      operation,
      inputs.map(({ type }) => type),
    );
    const outputs = types.map((type): Value => ({ type }));
    this.append({ operation, inputs, outputs });
    return required(outputs[0], `the output of "${operation.kind}"`);
  }

  /** Adds a node as it is. */
  append(node: GraphNode): void {
    this.nodes.push(node);
    for (const output of node.outputs) this.#producers.set(output, node);
  }

  /** The node of the new graph that computes the value; undefined for a constant or an input. */
  producer(value: Value): GraphNode | undefined {
    return this.#producers.get(value);
  }

  /** The node that computes the value, if its operation is of this kind. */
  producerOfKind<Kind extends OperationKind>(value: Value | undefined, kind: Kind): NodeOf<Kind> | undefined {
    const node = value === undefined ? undefined : this.#producers.get(value);
    return node?.operation.kind === kind ? (node as NodeOf<Kind>) : undefined;
  }

  /** Whether the value has a single reader, so that fusing its node into that reader removes the node. A value made by this rewrite counts as such. */
  hasOneUse(value: Value): boolean {
    return (this.#inheritedUses.get(value) ?? this.getUses(value) ?? 1) <= 1;
  }

  /** Number of readers of a value in the original graph; undefined for a value that is not read there. Counted at the first call: most passes change nothing. */
  getUses(value: Value): number | undefined {
    this.#uses ??= useCounts(this.#original);
    return this.#uses.get(value);
  }

  /** Records that `value` replaces one with `uses` readers. */
  inheritUses(value: Value, uses: number): void {
    this.#inheritedUses.set(value, (this.#inheritedUses.get(value) ?? 0) + uses);
  }
}

/**
 * Rebuilds a graph: calls `visit` for each node in order, with its inputs already rewritten, then removes the nodes that nothing reads any more. Returns
 * the graph itself if `visit` keeps every node.
 */
export function rewrite(graph: Graph, visit: Visit): Graph {
  const rewriter = new Rewriter(graph);
  const replaced = new Map<Value, Value>();
  const current = (value: Value): Value => replaced.get(value) ?? value;
  let isChanged = false;
  for (const node of graph.nodes) {
    const rewritten = node.inputs.some((input) => replaced.has(input)) ? { ...node, inputs: node.inputs.map(current) } : node;
    const outputs = visit(rewritten, rewriter);
    if (outputs === undefined) {
      rewriter.append(rewritten);
      continue;
    }
    isChanged = true;
    for (const [index, output] of outputs.entries()) {
      const old = node.outputs[index];
      if (old === undefined) continue;
      replaced.set(old, output);
      rewriter.inheritUses(output, rewriter.getUses(old) ?? 0);
    }
  }
  if (!isChanged && rewriter.nodes.length === graph.nodes.length) return graph;
  const outputs = graph.outputs.map(({ name, value }) => ({ name, value: current(value) }));
  return eliminateDeadCode({ inputs: graph.inputs, nodes: rewriter.nodes, outputs });
}

/** The pass that replaces the only output of a node by the value that `rule` returns for it, and keeps the node if that is undefined. */
export function valuePass(rule: (node: GraphNode, rewriter: Rewriter) => Value | undefined): Pass {
  return (graph) =>
    rewrite(graph, (node, rewriter) => {
      const value = rule(node, rewriter);
      return value === undefined ? undefined : [value];
    });
}

function useCounts(graph: Graph): ReadonlyMap<Value, number> {
  const uses = new Map<Value, number>();
  const count = (value: Value): unknown => uses.set(value, (uses.get(value) ?? 0) + 1);
  for (const { inputs } of graph.nodes) inputs.forEach(count);
  for (const { value } of graph.outputs) count(value);
  return uses;
}

/** Dead code elimination: removes nodes none of whose outputs reach an output of the graph. */
export function eliminateDeadCode(graph: Graph): Graph {
  const used = new Set(graph.outputs.map(({ value }) => value));
  const kept: GraphNode[] = [];
  for (const node of graph.nodes.toReversed()) {
    if (!node.outputs.some((output) => used.has(output))) continue;
    for (const input of node.inputs) used.add(input);
    kept.push(node);
  }
  return { ...graph, nodes: kept.reverse() };
}
