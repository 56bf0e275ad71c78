/**
 * The values that flow between the operators of a model while it is traced. Graphs hold tensors only; ONNX's sequences and optionals exist during
 * tracing and are resolved before a graph is complete.
 */
import type { Value } from "../ir/graph.ts";

/** The value of a name while a model is traced: a tensor, an ONNX sequence of tensors, or an ONNX optional. */
export type TracedValue = Value | TracedSequence | TracedOptional;

/** An ONNX sequence: a list whose length and items are known while the model is traced. */
export interface TracedSequence {
  readonly items: readonly TracedValue[];
}

/** An ONNX optional: a value or none, known while the model is traced. */
export interface TracedOptional {
  /** Value in the optional; absent if it is empty. */
  readonly content?: TracedValue;
  readonly optional: true;
}

/** Whether the value is a tensor. */
export function isTensor(traced: TracedValue): traced is Value {
  return "type" in traced;
}

/** Whether the value is an ONNX sequence. */
export function isSequence(traced: TracedValue): traced is TracedSequence {
  return "items" in traced;
}

/** Whether the value is an ONNX optional, empty or not. */
export function isOptional(traced: TracedValue): traced is TracedOptional {
  return "optional" in traced;
}

/** All tensors in the value, in order: itself, or the tensors in the items of a sequence or in the content of an optional. */
export function tensorsIn(traced: TracedValue): readonly Value[] {
  if (isTensor(traced)) return [traced];
  if (isSequence(traced)) return traced.items.flatMap(tensorsIn);
  return traced.content === undefined ? [] : tensorsIn(traced.content);
}

/** A value of the same structure, with each tensor replaced by the result of `change` for it. */
export function mapTensors(traced: TracedValue, change: (value: Value) => Value): TracedValue {
  if (isTensor(traced)) return change(traced);
  if (isSequence(traced)) return { items: traced.items.map((item) => mapTensors(item, change)) };
  return traced.content === undefined ? traced : { optional: true, content: mapTensors(traced.content, change) };
}
