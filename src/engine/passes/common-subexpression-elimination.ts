/** Common subexpression elimination. */
import { elementCount } from "../../contract/tensor.ts";
import type { Graph, GraphNode, Value } from "../ir/graph.ts";
import { storageIdentity } from "../ir/literal.ts";
import type { Operation } from "../ir/operations.ts";
import { rewrite } from "./rewrite.ts";

/**
 * Replaces a node by an earlier one with the same operation and inputs. Constants of up to 8 elements are compared by their elements, larger ones by
 * their storage. Nondeterministic calls stay.
 */
export function eliminateCommonSubexpressions(graph: Graph): Graph {
  const numbers = new Map<unknown, number>();
  const seen = new Map<string, Pick<GraphNode, "operation" | "outputs">[]>();
  const getNumber = (value: Value): number => {
    const { constant } = value;
    const identity =
      constant === undefined ? value : elementCount(constant.shape) <= 8 ? inlineKey(value) : storageIdentity(constant);
    const number = numbers.get(identity) ?? numbers.size;
    numbers.set(identity, number);
    return number;
  };
  return rewrite(graph, ({ operation, inputs, outputs }) => {
    if (operation.kind === "call" && operation.nondeterministic === true) return undefined; // random numbers differ for each use
    const key = `${operation.kind}(${inputs.map(getNumber).join()})`;
    const candidates = seen.get(key) ?? [];
    seen.set(key, candidates);
    const earlier = candidates.find((candidate) => isSame(candidate.operation, operation));
    if (earlier === undefined) candidates.push({ operation, outputs });
    return earlier?.outputs;
  });
}

function isSame(one: Operation, other: Operation): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function inlineKey({ type, constant }: Value): string {
  return `${type.dataType}[${type.shape.join()}]${Array.from(constant?.data ?? [], String).join()}`;
}
