/** Fused operations, computed step by step as they are defined. */
import { elementCount } from "../../contract/tensor.ts";
import { broadcastStrides, elementOffsets } from "../ir/broadcast.ts";
import { type Literal, toLiteral, toNumbers } from "../ir/literal.ts";
import type { Activation, ElementOperation, LinearEpilogue, OperationOf } from "../ir/operations.ts";
import { evaluateBinary, evaluateUnary } from "./elementwise.ts";
import { erf } from "./erf.ts";
import { evaluateTranspose } from "./movement.ts";
import { convolve, evaluateMatmul } from "./products.ts";
import { convolveTransposed } from "./windows.ts";
import type { One, Two } from "./operands.ts";

/** Evaluates `layer-norm` and `rms-norm` with mean and variance in float64. Inputs: x, and optionally scale and shift. */
export function evaluateNorm(
  { kind, axis, epsilon }: OperationOf<"layer-norm" | "rms-norm">,
  [x, scale, shift]: readonly [Literal, Literal?, Literal?],
): One {
  const values = toNumbers(x);
  const length = elementCount(x.shape.slice(axis));
  const results = new Float64Array(values.length);
  for (let start = 0; start < values.length; start += length) {
    let sum = 0;
    for (let index = 0; index < length; index += 1) sum += values[start + index] ?? 0;
    const mean = kind === "layer-norm" ? sum / length : 0;
    let squares = 0;
    for (let index = 0; index < length; index += 1) squares += ((values[start + index] ?? 0) - mean) ** 2;
    const factor = 1 / Math.sqrt(squares / length + epsilon);
    for (let index = 0; index < length; index += 1) results[start + index] = ((values[start + index] ?? 0) - mean) * factor;
  }
  applyEach(scale, x.shape, (at, by) => (results[at] = (results[at] ?? 0) * by));
  applyEach(shift, x.shape, (at, by) => (results[at] = (results[at] ?? 0) + by));
  return [toLiteral(x.dataType, x.shape, results)];
}

/** Calls `apply` for every element of a tensor of `shape`, with the element that an operand broadcasts to it. */
function applyEach(operand: Literal | undefined, shape: readonly number[], apply: (at: number, by: number) => void): void {
  if (operand === undefined) return;
  const by = toNumbers(operand);
  const offsets = elementOffsets(shape, broadcastStrides(operand.shape, shape));
  for (let at = 0; at < offsets.length; at += 1) apply(at, by[offsets[at] ?? 0] ?? 0);
}

/** Evaluates `gelu`, exact or approximated by tanh (Hendrycks and Gimpel 2016, https://arxiv.org/abs/1606.08415). */
export function evaluateGelu({ approximate }: OperationOf<"gelu">, [x]: One): One {
  const exact = (value: number): number => 0.5 * value * (1 + erf(value / Math.SQRT2));
  const approximated = (value: number): number =>
    0.5 * value * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (value + 0.044715 * value ** 3)));
  return [toLiteral(x.dataType, x.shape, Float64Array.from(toNumbers(x), approximate === "tanh" ? approximated : exact))];
}

/** Evaluates `linear`: a matrix product, then bias, activation and residual as its epilogue states. */
export function evaluateLinear(
  operation: OperationOf<"linear">,
  [x, weights, ...others]: readonly [Literal, Literal, ...Literal[]],
): One {
  return applyEpilogue(operation, evaluateMatmul({ kind: "matmul" }, [x, weights])[0], others);
}

/** Applies the epilogue of a fused matrix product. `others`: bias and residual, in this order, if the epilogue has them. */
export function applyEpilogue({ bias, residual, activation }: LinearEpilogue, product: Literal, others: readonly Literal[]): One {
  const added = residual === "none" ? undefined : others.at(-1);
  let result = product;
  if (bias) result = sum(result, others[0]);
  if (residual === "before-activation") result = sum(result, added);
  result = activated(activation, result);
  return [residual === "after-activation" ? sum(result, added) : result];
}

/** The sum of two tensors; the first one if there is no second. */
function sum(one: Literal, other: Literal | undefined): Literal {
  return other === undefined ? one : evaluateBinary({ kind: "binary", function: "add" }, [one, other])[0];
}

function activated(activation: Activation, x: Literal): Literal {
  if (activation === "none") return x;
  if (activation === "gelu" || activation === "gelu-tanh") {
    return evaluateGelu({ kind: "gelu", approximate: activation === "gelu" ? "none" : "tanh" }, [x])[0];
  }
  if (activation === "relu") return evaluateBinary({ kind: "binary", function: "max" }, [x, toLiteral(x.dataType, [], [0])])[0];
  const name = activation === "silu" ? "sigmoid" : activation;
  const [gate] = evaluateUnary({ kind: "unary", function: name }, [x]);
  if (activation !== "silu") return gate;
  return evaluateBinary({ kind: "binary", function: "mul" }, [x, gate])[0];
}

/** Operands of a convolution: x, weights and an optional bias. */
type WithBias = readonly [Literal, Literal, Literal?];

/** Evaluates `convolution`: sums in float64, then adds the bias and applies the activation. */
export function evaluateConvolution(operation: OperationOf<"convolution">, [x, weights, bias]: WithBias): One {
  return biasedAndActivated(operation, convolve(operation, [x, weights]), bias);
}

/** Evaluates `convolution-transpose`: sums in float64, then adds the bias and applies the activation. */
export function evaluateConvolutionTranspose(operation: OperationOf<"convolution-transpose">, [x, weights, bias]: WithBias): One {
  return biasedAndActivated(operation, convolveTransposed(operation, [x, weights]), bias);
}

function biasedAndActivated(
  operation: OperationOf<"convolution" | "convolution-transpose">,
  [sums]: One,
  bias: Literal | undefined,
): One {
  const aligned = bias && { ...bias, shape: [bias.data.length, ...operation.strides.map(() => 1)] };
  return [activated(operation.activation ?? "none", sum(sums, aligned))];
}

/** Evaluates `fused-matmul`: permutes the operands, multiplies them, permutes the product and multiplies it by alpha. */
export function evaluateFusedMatmul({ a, b, result, alpha }: OperationOf<"fused-matmul">, [one, other]: Two): readonly Literal[] {
  const transposed = (permutation: readonly number[], x: One): One => evaluateTranspose({ kind: "transpose", permutation }, x);
  const product = transposed(result, evaluateMatmul({ kind: "matmul" }, [...transposed(a, [one]), ...transposed(b, [other])]));
  return alpha === 1
    ? product
    : evaluateBinary({ kind: "binary", function: "mul" }, [...product, toLiteral(one.dataType, [], [alpha])]);
}

/** Evaluates `elementwise`, a fused chain, step by step; each result is rounded to its type. `evaluate` computes one step. */
export function evaluateElementwise(
  { steps }: OperationOf<"elementwise">,
  inputs: readonly Literal[],
  evaluate: (operation: ElementOperation, inputs: readonly Literal[]) => readonly Literal[],
): readonly Literal[] {
  const values = [...inputs];
  for (const { operation, operands: of } of steps) {
    const operands = of.map((number) => values[number]).filter((value) => value !== undefined);
    values.push(...evaluate(operation, operands));
  }
  return values.slice(-1);
}
