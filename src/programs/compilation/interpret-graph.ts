/** Computes a graph with the engine's interpreter: the reference of every backend. */
import { at, required } from "../../contract/checked.ts";
import { throwIfAborted } from "../../contract/errors.ts";
import type { Tensor, TensorMap } from "../../contract/tensor.ts";
import { evaluateNode } from "../../engine/interpret/evaluate.ts";
import type { Graph, Value } from "../../engine/ir/graph.ts";
import type { Literal } from "../../engine/ir/literal.ts";
import { yieldToEventLoop } from "../../platform/event-loop.ts";

/**
 * The outputs of a graph for given inputs, by name. Yields to the event loop between operations, and lets go of each value after its last use. Throws Error for values
 * that an operation refuses, such as an index outside of its axis, and ABORTED.
 */
export async function interpretGraph(
  { inputs, nodes, outputs }: Graph,
  given: TensorMap,
  signal?: AbortSignal,
): Promise<TensorMap> {
  const known = new Map<Value, Literal>(inputs.map(({ name, value }) => [value, required(given[name], `the input "${name}"`)]));
  const read = (value: Value): Literal => value.constant ?? required(known.get(value), "a value that no node defines");
  const uses = new Map<Value, number>();
  const count = (value: Value): void => void uses.set(value, (uses.get(value) ?? 0) + 1);
  for (const node of nodes) node.inputs.forEach(count);
  for (const { value } of outputs) count(value);
  for (const node of nodes) {
    const results = evaluateNode(node.operation, node.inputs.map(read));
    for (const [index, output] of node.outputs.entries()) if (uses.has(output)) known.set(output, at(results, index));
    for (const input of node.inputs) {
      const left = (uses.get(input) ?? 1) - 1;
      uses.set(input, left);
      if (left === 0) known.delete(input);
    }
    await yieldToEventLoop();
    throwIfAborted(signal);
  }
  return Object.fromEntries(
    outputs.map(({ name, value }): [string, Tensor] => {
      const { dataType, shape, data } = read(value);
      return [name, { dataType, shape, data } as Tensor];
    }),
  );
}
