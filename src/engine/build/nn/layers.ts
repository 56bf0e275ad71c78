/**
 * Building blocks of neural networks, as in `torch.nn`. A function here reads a layer's weights once and returns a `Layer`; calling the layer adds
 * its operations to the graph.
 */
import type { Value } from "../../ir/graph.ts";
import { dimensions, type TensorOps } from "../tensor-ops.ts";
import type { ParameterSource } from "./parameter-source.ts";

/** Adds the operations that compute a layer's output from `x`, and returns the output. */
export type Layer = (ops: TensorOps, x: Value) => Value;

/** Sizes of a linear layer, as in `torch.nn.Linear`. */
export interface LinearOptions {
  /** Size of the last axis of the input. */
  readonly inFeatures: number;
  /** Size of the last axis of the output. */
  readonly outFeatures: number;
  /** Whether the layer adds a vector `${name}.bias`. Default: true. */
  readonly bias?: boolean;
}

/**
 * `x W^T + b` of `torch.nn.Linear`: x `[..., inFeatures]` gives `[..., outFeatures]`. Reads `${name}.weight`, stored `[outFeatures, inFeatures]`,
 * and `${name}.bias`.
 */
export function linear(
  parameters: ParameterSource,
  name: string,
  { inFeatures, outFeatures, bias = true }: LinearOptions,
): Layer {
  const matrix = parameters.matrix(`${name}.weight`, inFeatures, outFeatures);
  const vector = bias ? parameters.tensor(`${name}.bias`, outFeatures) : undefined;
  return (ops, x) => {
    const product = ops.add({ kind: "matmul" }, x, ops.builder.constant(matrix));
    return vector === undefined ? product : ops.binary("add", product, ops.builder.constant(vector));
  };
}

/** A linear layer with bias whose weight is stored `[inFeatures, outFeatures]`: `transformers.pytorch_utils.Conv1D`, which GPT-2 uses. */
export function linearTransposed(parameters: ParameterSource, name: string, { inFeatures, outFeatures }: LinearOptions): Layer {
  const matrix = parameters.transposedMatrix(`${name}.weight`, inFeatures, outFeatures);
  const vector = parameters.tensor(`${name}.bias`, outFeatures);
  return (ops, x) =>
    ops.binary("add", ops.add({ kind: "matmul" }, x, ops.builder.constant(matrix)), ops.builder.constant(vector));
}

/** Embedding table `name`, `[rows, width]`: integer ids of any shape give `[...shape, width]`. */
export function embedding(parameters: ParameterSource, name: string, rows: number, width: number): Layer {
  const table = parameters.tensor(name, rows, width);
  return (ops, ids) => ops.add({ kind: "gather", axis: 0 }, ops.builder.constant(table), ids);
}

/** As `embedding`, for a table of the vocabulary, which may be quantized as the matrices of linear layers are. */
export function tokenEmbedding(parameters: ParameterSource, name: string, vocabulary: number, width: number): Layer {
  const table = parameters.table(name, vocabulary, width);
  return (ops, ids) => ops.add({ kind: "gather", axis: 0 }, ops.builder.constant(table), ids);
}

/**
 * Layer normalization over the last axis, of `size` elements (Ba et al. 2016, https://arxiv.org/abs/1607.06450). Reads `${name}.weight` and, if
 * `bias` is true, `${name}.bias`.
 */
export function layerNorm(parameters: ParameterSource, name: string, size: number, epsilon: number, bias = true): Layer {
  const gamma = parameters.tensor(`${name}.weight`, size);
  const beta = bias ? parameters.tensor(`${name}.bias`, size) : undefined;
  return (ops, x) => {
    const operands = [gamma, beta].filter((each) => each !== undefined).map((each) => ops.builder.constant(each));
    return ops.add({ kind: "layer-norm", axis: x.type.shape.length - 1, epsilon }, x, ...operands);
  };
}

/**
 * Root mean square normalization over the last axis, of `size` elements (Zhang and Sennrich 2019, https://arxiv.org/abs/1910.07467). Multiplies by
 * `${name}.weight` plus `offset`; Gemma stores its weights minus 1 and needs an offset of 1.
 */
export function rmsNorm(parameters: ParameterSource, name: string, size: number, epsilon: number, offset = 0): Layer {
  const gamma = parameters.tensor(`${name}.weight`, size);
  return (ops, x) => {
    const weight = ops.builder.constant(gamma);
    const meanSquare = ops.reduce("mean", ops.binary("mul", x, x), [x.type.shape.length - 1], true);
    const root = ops.unary("sqrt", ops.binary("add", meanSquare, epsilon));
    const normalized = ops.binary("mul", x, ops.unary("reciprocal", root));
    return ops.binary("mul", normalized, offset === 0 ? weight : ops.binary("add", weight, offset));
  };
}

/** Applies `layers` in order, each to the output of the one before, as `torch.nn.Sequential` does. Without layers it returns its input. */
export function sequential(...layers: readonly Layer[]): Layer {
  return (ops, x) => layers.reduce((value, layer) => layer(ops, value), x);
}

/** The hidden state of the first token of each sequence: x `[batch, length, width]` gives `[batch, width]`. */
export function firstToken(ops: TensorOps, x: Value): Value {
  const [batch, , width] = dimensions(x, 3);
  return ops.reshape(ops.slice(x, 1, 0, 1), [batch, width]);
}

/** Calls `make` with 0 to `count` - 1 and returns the results: the blocks of a model, as in `torch.nn.ModuleList`. */
export function repeated<Made>(count: number, make: (index: number) => Made): readonly Made[] {
  const made: Made[] = [];
  for (let index = 0; index < count; index += 1) made.push(make(index)); // one by one: a file may state more blocks than any list can have
  return made;
}
