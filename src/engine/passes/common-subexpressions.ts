/** Computes once what is computed twice from the same values. */
import { elementCount } from "../../tensor.ts";
import type { Graph, Value } from "../graph/graph.ts";
import { identityOf } from "../graph/literal.ts";
import { rewrite } from "./rewrite.ts";

export function shareCommon(graph: Graph): Graph {
  const numbers = new Map<unknown, number>();
  const seen = new Map<string, readonly Value[]>();
  // Constants are one where their elements are one literal, or a few equal elements.
  const numberOf = (value: Value): number => {
    const { constant } = value;
    const identity = constant === undefined ? value : elementCount(constant.shape) <= 8 ? smallKey(value) : identityOf(constant);
    const number = numbers.get(identity) ?? numbers.size;
    numbers.set(identity, number);
    return number;
  };
  return rewrite(graph, ({ operation, inputs, outputs }) => {
    if (operation.kind === "call" && operation.fresh === true) return undefined; // random numbers are drawn for each use
    const key = `${JSON.stringify(operation)}(${inputs.map(numberOf).join()})`;
    const before = seen.get(key);
    if (before === undefined) seen.set(key, outputs);
    return before;
  });
}

function smallKey({ type, constant }: Value): string {
  return `${type.dataType}[${type.shape.join()}]${Array.from(constant?.data ?? [], String).join()}`;
}
