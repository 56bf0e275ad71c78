/** What an operator of an operator set means, from which version on. */
import type { Value } from "../../ir/graph.ts";
import type { Traced } from "../../build/traced-value.ts";
import type { OperatorCall } from "./operator-call.ts";

/** Gives the outputs of the node, or its only one. */
export type Lower = (call: OperatorCall) => readonly Traced[] | Value;

export interface OperatorRule {
  /** The first version of the operator set it holds for; up to the next rule of the operator. */
  readonly since: number;
  readonly lower: Lower;
}

/** Rules by operator, "domain:Name" outside of the standard domain; versions ascend. */
export type OperatorFamily = Readonly<Record<string, readonly OperatorRule[]>>;

/** One rule for all versions from `version` on. */
export function since(version: number, lower: Lower): readonly OperatorRule[] {
  return [{ since: version, lower }];
}

/** Several rules, each from its version on. */
export function versions(...rules: readonly (readonly [since: number, lower: Lower])[]): readonly OperatorRule[] {
  return rules.map(([version, lower]) => ({ since: version, lower }));
}
