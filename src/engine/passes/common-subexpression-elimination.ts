/** Computes once what is computed twice from the same values. */
import { elementCount } from "../../tensor.ts";
import type { Graph, GraphNode, Value } from "../ir/graph.ts";
import { storageIdentity } from "../ir/literal.ts";
import type { Operation } from "../ir/operations.ts";
import { rewrite } from "./rewrite.ts";

export function eliminateCommonSubexpressions(graph: Graph): Graph {
  const numbers = new Map<unknown, number>();
  const seen = new Map<string, Pick<GraphNode, "operation" | "outputs">[]>();
  // Constants are one where their elements are one literal, or a few equal elements.
  const numberOf = (value: Value): number => {
    const { constant } = value;
    const identity =
      constant === undefined ? value : elementCount(constant.shape) <= 8 ? inlineKey(value) : storageIdentity(constant);
    const number = numbers.get(identity) ?? numbers.size;
    numbers.set(identity, number);
    return number;
  };
  return rewrite(graph, ({ operation, inputs, outputs }) => {
    if (operation.kind === "call" && operation.nondeterministic === true) return undefined; // random numbers are drawn for each use
    const key = `${operation.kind}(${inputs.map(numberOf).join()})`;
    const alike = seen.get(key) ?? [];
    seen.set(key, alike);
    const before = alike.find((each) => isSame(each.operation, operation));
    if (before === undefined) alike.push({ operation, outputs });
    return before?.outputs;
  });
}

function isSame(one: Operation, other: Operation): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function inlineKey({ type, constant }: Value): string {
  return `${type.dataType}[${type.shape.join()}]${Array.from(constant?.data ?? [], String).join()}`;
}
