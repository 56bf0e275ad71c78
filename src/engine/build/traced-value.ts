/** What flows between the operators of a model while it is traced: tensors, and lists of them that exist only then. */
import type { Value } from "../ir/graph.ts";

export type TracedValue = Value | TracedSequence | TracedOptional;

export interface TracedSequence {
  readonly items: readonly TracedValue[];
}

export interface TracedOptional {
  /** Left out: it holds nothing. */
  readonly content?: TracedValue;
  readonly optional: true;
}

export function isTensor(traced: TracedValue): traced is Value {
  return "type" in traced;
}

export function isSequence(traced: TracedValue): traced is TracedSequence {
  return "items" in traced;
}

export function isOptional(traced: TracedValue): traced is TracedOptional {
  return "optional" in traced;
}

/** The tensors in it, in order. */
export function tensorsIn(traced: TracedValue): readonly Value[] {
  if (isTensor(traced)) return [traced];
  if (isSequence(traced)) return traced.items.flatMap(tensorsIn);
  return traced.content === undefined ? [] : tensorsIn(traced.content);
}

/** The same with other tensors in their places. */
export function mapTensors(traced: TracedValue, change: (value: Value) => Value): TracedValue {
  if (isTensor(traced)) return change(traced);
  if (isSequence(traced)) return { items: traced.items.map((item) => mapTensors(item, change)) };
  return traced.content === undefined ? traced : { optional: true, content: mapTensors(traced.content, change) };
}
