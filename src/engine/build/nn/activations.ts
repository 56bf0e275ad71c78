/** Activation functions under the names that Hugging Face transformers gives them in config.json. */
import type { Layer } from "./layers.ts";

/** Name of an activation function, as in `transformers.activations.ACT2FN`. */
export type ActivationName =
  | "gelu"
  | "gelu_python"
  | "gelu_new"
  | "gelu_fast"
  | "gelu_pytorch_tanh"
  | "quick_gelu"
  | "relu"
  | "relu2"
  | "silu"
  | "swish"
  | "tanh"
  | "sigmoid";

const geluTanh: Layer = (ops, x) => ops.add({ kind: "gelu", approximate: "tanh" }, x);
const gelu: Layer = (ops, x) => ops.add({ kind: "gelu", approximate: "none" }, x);
/** `x * sigmoid(1.702 x)`, an approximation of GELU (Hendrycks and Gimpel 2016, https://arxiv.org/abs/1606.08415) that CLIP was trained with. */
const quickGelu: Layer = (ops, x) => ops.binary("mul", x, ops.unary("sigmoid", ops.binary("mul", x, 1.702)));
const relu: Layer = (ops, x) => ops.binary("max", x, 0);
/** The square of ReLU (So et al. 2021, https://arxiv.org/abs/2109.08668). */
const relu2: Layer = (ops, x) => {
  const positive = relu(ops, x);
  return ops.binary("mul", positive, positive);
};
const silu: Layer = (ops, x) => ops.binary("mul", x, ops.unary("sigmoid", x));

const activations: Readonly<Record<ActivationName, Layer>> = {
  gelu,
  gelu_python: gelu,
  gelu_new: geluTanh,
  gelu_fast: geluTanh,
  gelu_pytorch_tanh: geluTanh,
  quick_gelu: quickGelu,
  relu,
  relu2,
  silu,
  swish: silu,
  tanh: (ops, x) => ops.unary("tanh", x),
  sigmoid: (ops, x) => ops.unary("sigmoid", x),
};

/** The names of all activation functions that the engine builds. */
export const activationNames: readonly ActivationName[] = Object.keys(activations) as ActivationName[];

/** The activation function of this name, applied element by element. */
export function activation(name: ActivationName): Layer {
  return activations[name];
}
