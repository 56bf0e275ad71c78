/**
 * Splits caches that hold keys and values of a layer in one tensor [2, batch, heads, past, depth] into two states. In such models each half is sliced
 * out at the beginning and both are stacked again at the end; after splitting, neither is computed.
 */
import { InferyardError } from "../../../contract/errors.ts";
import { type Graph, type GraphNode, type NamedValue, type Value } from "../../ir/graph.ts";
import { sameShape } from "../../ir/tensor-type.ts";
import { toIntegers } from "../../ir/literal.ts";

const halves = [0, 1];

/** Name of one half of an input or output that holds keys and values in one tensor: half 0 holds the keys, 1 the values. */
export function halfName(name: string, half: number): string {
  return `${name} ${half}`;
}

/**
 * Returns the graph in which each input named in `joined` is replaced with two inputs, one for keys and one for values, and each output that stacks
 * two tensors with these two. Throws MODEL_UNSUPPORTED if such an input is used in any other way.
 */
export function splitPast(graph: Graph, joined: readonly string[]): Graph {
  if (joined.length === 0) return graph;
  const inputs = graph.inputs.flatMap((input): readonly NamedValue[] => {
    if (!joined.includes(input.name)) return [input];
    return halves.map((half) => ({ name: halfName(input.name, half), value: getHalf(graph, input, half) }));
  });
  const given = new Set(inputs.map(({ value }) => value));
  const outputs = graph.outputs.flatMap((output): readonly NamedValue[] => {
    const parts = joinedParts(graph, output.value);
    return parts?.map((value, half): NamedValue => ({ name: halfName(output.name, half), value })) ?? [output];
  });
  // Nodes that slice the halves out of an input that no longer exists are removed.
  const gone = new Set<Value>(graph.inputs.flatMap(({ name, value }) => (joined.includes(name) ? [value] : [])));
  const nodes = graph.nodes.filter((node) => {
    const isCut = node.inputs.some((value) => gone.has(value)) || node.outputs.some((value) => given.has(value));
    if (isCut) for (const value of node.outputs) if (!given.has(value)) gone.add(value);
    return !isCut;
  });
  return { inputs, nodes, outputs };
}

/** The value in the graph that is one half of an input, without the first axis. */
function getHalf(graph: Graph, { name, value }: NamedValue, half: number): Value {
  const users = graph.nodes.filter(({ inputs }) => inputs.includes(value));
  const cuts = users.filter((node) => selectedHalf(node) === half);
  const [cut] = cuts;
  const [piece] = cut?.outputs ?? [];
  const isWhole = users.every((node) => selectedHalf(node) !== undefined) && cuts.length === 1;
  const shape = value.type.shape.slice(1);
  if (piece === undefined || !isWhole) throw unsupportedPast(name);
  if (sameShape(piece.type.shape, shape)) return piece;
  const [next, ...others] = graph.nodes.filter(({ inputs }) => inputs.includes(piece));
  const [reshaped] = next?.outputs ?? [];
  if (next?.operation.kind !== "reshape" || others.length > 0 || reshaped === undefined) throw unsupportedPast(name);
  if (!sameShape(reshaped.type.shape, shape)) throw unsupportedPast(name);
  return reshaped;
}

/** The half of its first operand that a node selects; undefined for other nodes. */
function selectedHalf({ operation, inputs }: GraphNode): number | undefined {
  const [x, indices] = inputs;
  if (operation.kind === "slice") {
    const isHalf = operation.steps.every((step) => step === 1) && sameShape(operation.sizes, x?.type.shape.with(0, 1) ?? []);
    return isHalf ? operation.starts[0] : undefined;
  }
  if (operation.kind !== "gather" || operation.axis !== 0 || indices?.constant?.data.length !== 1) return undefined;
  return toIntegers(indices.constant)[0];
}

/** The two tensors that a value stacks along a new first axis; undefined when it does not. */
function joinedParts(graph: Graph, value: Value): readonly Value[] | undefined {
  const maker = (of: Value): GraphNode | undefined => graph.nodes.find(({ outputs }) => outputs.includes(of));
  const join = maker(value);
  if (join?.operation.kind !== "concat" || join.operation.axis !== 0 || join.inputs.length !== halves.length) return undefined;
  const parts = join.inputs.flatMap((input): readonly Value[] => {
    const node = maker(input);
    return node?.operation.kind === "reshape" && sameShape([1, ...(node.inputs[0]?.type.shape ?? [])], input.type.shape)
      ? node.inputs
      : [];
  });
  return parts.length === halves.length ? parts : undefined;
}

function unsupportedPast(name: string): InferyardError {
  return new InferyardError(
    "MODEL_UNSUPPORTED",
    `the model cannot be decoded with a cache: it does more with its input "${name}" than cut keys and values out of it`,
  );
}
