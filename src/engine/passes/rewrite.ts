/** Rebuilds a graph node by node. A pass is a pure function from graph to graph; graphs are never changed in place. */
import type { Graph, GraphNode, NodeOf, Value } from "../ir/graph.ts";
import { inferTypes } from "../ir/shape-inference/index.ts";
import type { Operation, OperationKind } from "../ir/operations.ts";
import type { ConstantFolder } from "../interpret/evaluate.ts";

/** `fold` computes constants from constants; the interpreter where absent. */
export type Pass = (graph: Graph, fold?: ConstantFolder) => Graph;

/** Looks at one node, whose inputs are already rebuilt. Gives what stands in the place of its outputs, or undefined to keep it. */
export type Visit = (node: GraphNode, rewriter: Rewriter) => readonly Value[] | undefined;

/** What was rebuilt so far. */
export class Rewriter {
  readonly nodes: GraphNode[] = [];
  readonly #producers = new Map<Value, GraphNode>();
  readonly #uses: ReadonlyMap<Value, number>;
  readonly #inheritedUses = new Map<Value, number>();

  constructor(uses: ReadonlyMap<Value, number>) {
    this.#uses = uses;
  }

  /** Adds a node and gives its first output. */
  add(operation: Operation, ...inputs: readonly Value[]): Value {
    const types = inferTypes(
      operation,
      inputs.map(({ type }) => type),
    );
    const outputs = types.map((type): Value => ({ type }));
    this.append({ operation, inputs, outputs });
    const [first] = outputs;
    if (first === undefined) throw new Error(`"${operation.kind}" gives nothing`);
    return first;
  }

  append(node: GraphNode): void {
    this.nodes.push(node);
    for (const output of node.outputs) this.#producers.set(output, node);
  }

  producer(value: Value): GraphNode | undefined {
    return this.#producers.get(value);
  }

  /** The node that gives this value, if it is of this kind. */
  producerOfKind<Kind extends OperationKind>(value: Value | undefined, kind: Kind): NodeOf<Kind> | undefined {
    const node = value === undefined ? undefined : this.#producers.get(value);
    return node?.operation.kind === kind ? (node as NodeOf<Kind>) : undefined;
  }

  /** Whether nothing but one place uses the value, so that it need not be there when that place computes it itself. */
  hasOneUse(value: Value): boolean {
    return (this.#inheritedUses.get(value) ?? this.#uses.get(value) ?? 1) <= 1;
  }

  /** Says that `value` stands for one that had so many uses. */
  inheritUses(value: Value, uses: number): void {
    this.#inheritedUses.set(value, (this.#inheritedUses.get(value) ?? 0) + uses);
  }
}

export function rewrite(graph: Graph, visit: Visit): Graph {
  const uses = useCounts(graph);
  const rewriter = new Rewriter(uses);
  const replaced = new Map<Value, Value>();
  const current = (value: Value): Value => replaced.get(value) ?? value;
  for (const node of graph.nodes) {
    const inputs = node.inputs.map(current);
    const same = inputs.every((input, index) => input === node.inputs[index]);
    const seen = same ? node : { ...node, inputs };
    const outputs = visit(seen, rewriter);
    if (outputs === undefined) rewriter.append(seen);
    else {
      for (const [index, output] of outputs.entries()) {
        const old = node.outputs[index];
        if (old === undefined) continue;
        replaced.set(old, output);
        rewriter.inheritUses(output, uses.get(old) ?? 0);
      }
    }
  }
  const outputs = graph.outputs.map(({ name, value }) => ({ name, value: current(value) }));
  return eliminateDeadCode({ inputs: graph.inputs, nodes: rewriter.nodes, outputs });
}

function useCounts(graph: Graph): ReadonlyMap<Value, number> {
  const uses = new Map<Value, number>();
  const count = (value: Value): unknown => uses.set(value, (uses.get(value) ?? 0) + 1);
  for (const { inputs } of graph.nodes) inputs.forEach(count);
  for (const { value } of graph.outputs) count(value);
  return uses;
}

/** The graph without nodes whose results nobody uses. */
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
