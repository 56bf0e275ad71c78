/** What flows between the operators of a model while it is traced: tensors, and lists of them that exist only then. */
import type { Value } from "../graph/graph.ts";

export type Traced = Value | TracedSequence | TracedOptional;

export interface TracedSequence {
  readonly items: readonly Traced[];
}

export interface TracedOptional {
  /** Left out: it holds nothing. */
  readonly content?: Traced;
  readonly optional: true;
}

export function isTensor(traced: Traced): traced is Value {
  return "type" in traced;
}

export function isSequence(traced: Traced): traced is TracedSequence {
  return "items" in traced;
}

export function isOptional(traced: Traced): traced is TracedOptional {
  return "optional" in traced;
}
