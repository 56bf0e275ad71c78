/** Steps of a plan before their operands are offsets. */
import type { GraphNode } from "../ir/graph.ts";
import type { LoweredCall } from "../lower/lowered-node.ts";

/** A step whose operands are not yet resolved to offsets. */
export interface DraftStep {
  readonly node: GraphNode;
  readonly call?: LoweredCall;
  readonly temporaries: readonly number[];
  readonly scratch?: { readonly buffer: number; readonly stride: number };
}

/** Whether the node reads or gives strings, which only the interpreter supports. */
export function hasStrings({ inputs, outputs }: GraphNode): boolean {
  return [...inputs, ...outputs].some(({ type }) => type.dataType === "string");
}
