/** Fused operations, computed as their definitions say. */
import { elementCount } from "../../tensor.ts";
import { broadcastStrides, positions } from "../graph/broadcast.ts";
import { type Literal, literalOf, numbersOf } from "../graph/literal.ts";
import type { OperationOf } from "../graph/operations.ts";
import { errorFunction } from "./error-function.ts";

export function evaluateLayerNorm({ axis, epsilon }: OperationOf<"layer-norm">, inputs: readonly Literal[]): readonly Literal[] {
  const [x, scale, shift] = inputs;
  if (x === undefined) throw new Error("it lacks its operand");
  const values = numbersOf(x);
  const length = elementCount(x.shape.slice(axis));
  const results = new Float64Array(values.length);
  for (let start = 0; start < values.length; start += length) {
    let sum = 0;
    for (let index = 0; index < length; index += 1) sum += values[start + index] ?? 0;
    const mean = sum / length;
    let squares = 0;
    for (let index = 0; index < length; index += 1) squares += ((values[start + index] ?? 0) - mean) ** 2;
    const factor = 1 / Math.sqrt(squares / length + epsilon);
    for (let index = 0; index < length; index += 1) results[start + index] = ((values[start + index] ?? 0) - mean) * factor;
  }
  applyEach(scale, x.shape, (at, by) => (results[at] = (results[at] ?? 0) * by));
  applyEach(shift, x.shape, (at, by) => (results[at] = (results[at] ?? 0) + by));
  return [literalOf(x.dataType, x.shape, results)];
}

function applyEach(operand: Literal | undefined, shape: readonly number[], apply: (at: number, by: number) => void): void {
  if (operand === undefined) return;
  const by = numbersOf(operand);
  const places = positions(shape, broadcastStrides(operand.shape, shape));
  for (let at = 0; at < places.length; at += 1) apply(at, by[places[at] ?? 0] ?? 0);
}

/** Hendrycks and Gimpel, https://arxiv.org/abs/1606.08415. */
export function evaluateGelu({ approximate }: OperationOf<"gelu">, [x]: readonly Literal[]): readonly Literal[] {
  if (x === undefined) throw new Error("it lacks its operand");
  const exact = (value: number): number => 0.5 * value * (1 + errorFunction(value / Math.SQRT2));
  const close = (value: number): number =>
    0.5 * value * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (value + 0.044715 * value ** 3)));
  return [literalOf(x.dataType, x.shape, Float64Array.from(numbersOf(x), approximate === "tanh" ? close : exact))];
}
