/** What an operator of an operator set means, from which version on. */
import type { Value } from "../../ir/graph.ts";
import type { TracedValue } from "../../build/traced-value.ts";
import type { OperatorCall } from "./operator-call.ts";

/** Gives the outputs of the node, or its only one. */
export type Translate = (call: OperatorCall) => readonly TracedValue[] | Value;

export interface OperatorRule {
  /** The first version of the operator set it holds for; up to the next rule of the operator. */
  readonly since: number;
  readonly translate: Translate;
}

/** Rules by operator, "domain:Name" outside of the standard domain; versions ascend. */
export type OperatorFamily = Readonly<Record<string, readonly OperatorRule[]>>;

/** One rule for all versions from `version` on. */
export function since(version: number, translate: Translate): readonly OperatorRule[] {
  return [{ since: version, translate }];
}

/** Several rules, each from its version on. */
export function versions(...rules: readonly (readonly [since: number, translate: Translate])[]): readonly OperatorRule[] {
  return rules.map(([version, translate]) => ({ since: version, translate }));
}
