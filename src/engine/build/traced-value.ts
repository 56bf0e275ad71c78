/** What flows between the operators of a model while it is traced: tensors, and lists of them that exist only then. */
import type { Value } from "../ir/graph.ts";

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

/** The tensors in it, in order. */
export function tensorsIn(traced: Traced): readonly Value[] {
  if (isTensor(traced)) return [traced];
  if (isSequence(traced)) return traced.items.flatMap(tensorsIn);
  return traced.content === undefined ? [] : tensorsIn(traced.content);
}

/** The same with other tensors in their places. */
export function withTensors(traced: Traced, change: (value: Value) => Value): Traced {
  if (isTensor(traced)) return change(traced);
  if (isSequence(traced)) return { items: traced.items.map((item) => withTensors(item, change)) };
  return traced.content === undefined ? traced : { optional: true, content: withTensors(traced.content, change) };
}
