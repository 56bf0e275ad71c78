/** How an ONNX operator is translated into operations of the graph, and from which version of its operator set on. */
import type { Value } from "../../ir/graph.ts";
import type { TracedValue } from "../../build/traced-value.ts";
import type { OperatorCall } from "./operator-call.ts";

/** Adds the operations of one node to the graph, and returns its outputs, or its only output. Throws Error for unsupported nodes. */
export type Translate = (call: OperatorCall) => readonly TracedValue[] | Value;

/** The translation of an operator for a range of operator set versions. A translation adds the graph operations that compute one node. */
export interface OperatorRule {
  /** The first version of the operator set that the rule is for. It ends with the next rule of the same operator. */
  readonly since: number;
  readonly translate: Translate;
}

/** Translations by operator: "Name" in the domain ai.onnx, "domain:Name" in others. Translations of one operator are in ascending order of `since`. */
export type OperatorFamily = Readonly<Record<string, readonly OperatorRule[]>>;

/** One translation for all versions from `version` on: the list for an operator all of whose definitions have the same translation. */
export function since(version: number, translate: Translate): readonly OperatorRule[] {
  return [{ since: version, translate }];
}

/** Several translations of one operator, each from its version on. The versions must ascend; each ends where the next begins. */
export function versions(...rules: readonly (readonly [since: number, translate: Translate])[]): readonly OperatorRule[] {
  return rules.map(([version, translate]) => ({ since: version, translate }));
}
