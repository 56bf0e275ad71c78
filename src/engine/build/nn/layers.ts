/** The layers transformers are made of. Making one takes its weights; calling it builds what it computes. */
import type { Value } from "../../ir/graph.ts";
import type { TensorOps } from "../tensor-ops.ts";
import type { Config } from "../../transformers/config.ts";
import type { Weights } from "../../transformers/weights.ts";

export type Layer = (net: TensorOps, x: Value) => Value;

export interface LinearOptions {
  readonly inFeatures: number;
  readonly outFeatures: number;
  /** Default: true. */
  readonly bias?: boolean;
}

/** x W^T + b, with W stored [to, from]. */
export function linear(weights: Weights, name: string, { inFeatures, outFeatures, bias = true }: LinearOptions): Layer {
  const matrix = weights.matrix(`${name}.weight`, inFeatures, outFeatures);
  const vector = bias ? weights.tensor(`${name}.bias`, outFeatures) : undefined;
  return (net, x) => {
    const product = net.add({ kind: "matmul" }, x, net.builder.constant(matrix));
    return vector === undefined ? product : net.binary("add", product, net.builder.constant(vector));
  };
}

/** x W + b, with W stored [from, to], as GPT-2 has it. */
export function linearTransposed(weights: Weights, name: string, { inFeatures, outFeatures }: LinearOptions): Layer {
  const matrix = weights.tensor(`${name}.weight`, inFeatures, outFeatures);
  const vector = weights.tensor(`${name}.bias`, outFeatures);
  return (net, x) =>
    net.binary("add", net.add({ kind: "matmul" }, x, net.builder.constant(matrix)), net.builder.constant(vector));
}

/** The row of each id. */
export function embedding(weights: Weights, name: string, rows: number, width: number): Layer {
  const table = weights.tensor(name, rows, width);
  return (net, rowsWanted) => net.add({ kind: "gather", axis: 0 }, net.builder.constant(table), rowsWanted);
}

/** Ba and others, https://arxiv.org/abs/1607.06450. */
export function layerNorm(weights: Weights, name: string, size: number, epsilon: number, bias = true): Layer {
  const gamma = weights.tensor(`${name}.weight`, size);
  const beta = bias ? weights.tensor(`${name}.bias`, size) : undefined;
  return (net, x) => {
    const operands = [gamma, beta].filter((each) => each !== undefined).map((each) => net.builder.constant(each));
    return net.add({ kind: "layer-norm", axis: x.type.shape.length - 1, epsilon }, x, ...operands);
  };
}

/** Zhang and Sennrich, https://arxiv.org/abs/1910.07467. `offset` is added to what it multiplies by. */
export function rmsNorm(weights: Weights, name: string, size: number, epsilon: number, offset = 0): Layer {
  const gamma = weights.tensor(`${name}.weight`, size);
  return (net, x) => {
    const factor = net.builder.constant(gamma);
    const squares = net.reduce("mean", net.binary("mul", x, x), [x.type.shape.length - 1], true);
    const root = net.unary("sqrt", net.binary("add", squares, epsilon));
    const normalized = net.binary("mul", x, net.unary("reciprocal", root));
    return net.binary("mul", normalized, offset === 0 ? factor : net.binary("add", factor, offset));
  };
}

const geluTanh: Layer = (net, x) => net.add({ kind: "gelu", approximate: "tanh" }, x);
const gelu: Layer = (net, x) => net.add({ kind: "gelu", approximate: "none" }, x);
const silu: Layer = (net, x) => net.binary("mul", x, net.unary("sigmoid", x));

/** By the names transformers has for them. */
const activations: Readonly<Record<ActivationName, Layer>> = {
  gelu,
  gelu_python: gelu,
  gelu_new: geluTanh,
  gelu_fast: geluTanh,
  gelu_pytorch_tanh: geluTanh,
  relu: (net, x) => net.binary("max", x, 0),
  silu,
  swish: silu,
  tanh: (net, x) => net.unary("tanh", x),
  sigmoid: (net, x) => net.unary("sigmoid", x),
};

export type ActivationName =
  | "gelu"
  | "gelu_python"
  | "gelu_new"
  | "gelu_fast"
  | "gelu_pytorch_tanh"
  | "relu"
  | "silu"
  | "swish"
  | "tanh"
  | "sigmoid";

export const activationNames: readonly ActivationName[] = Object.keys(activations) as ActivationName[];

export function activation(name: ActivationName): Layer {
  return activations[name];
}

export function configuredActivation(config: Config, key: string, otherwise: ActivationName): Layer {
  return activations[config.oneOf(key, activationNames, otherwise)];
}

/** One after the other. */
export function sequential(...layers: readonly Layer[]): Layer {
  return (net, x) => layers.reduce((value, layer) => layer(net, value), x);
}

/** The first token of each text: x [N, L, W] gives [N, W]. */
export function firstToken(net: TensorOps, x: Value): Value {
  const [batch = 0, , width = 0] = x.type.shape;
  return net.reshape(net.slice(x, 1, 0, 1), [batch, width]);
}

/** `count` of them, made one after the other. */
export function repeated<Made>(count: number, make: (index: number) => Made): readonly Made[] {
  return Array.from({ length: count }, (_, index) => make(index));
}
