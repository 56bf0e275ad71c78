/**
 * Activation functions of ai.onnx. Operators without a comment are one operation of the graph; the definitions are those of
 * https://onnx.ai/onnx/operators/.
 */
import type { Value } from "../../../ir/graph.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since, versions } from "../operator-rule.ts";
import { computeWidened, widened } from "../precision.ts";

/** `then` where x > 0, else `otherwise`. */
function byPositive(call: OperatorCall, x: Value, then: Value, otherwise: Value | number): Value {
  return call.select(call.binary("greater", x, 0), then, otherwise);
}

/** ONNX LeakyRelu: alpha * x below zero. Default of alpha: the node's attribute. */
export function leakyRelu(call: OperatorCall, x: Value, alpha: number = call.float("alpha", 0.01)): Value {
  return call.select(call.binary("less", x, 0), call.binary("mul", x, alpha), x);
}

/** alpha * (exp(x) - 1): the value of Elu and Selu below zero. */
export function scaledExpm1(call: OperatorCall, x: Value, alpha: number): Value {
  return call.binary("mul", call.binary("sub", call.unary("exp", x), 1), alpha);
}

/** ONNX Elu: alpha * (exp(x) - 1) below zero (Clevert et al., https://arxiv.org/abs/1511.07289). */
function elu(call: OperatorCall, x: Value): Value {
  return byPositive(call, x, x, scaledExpm1(call, x, call.float("alpha", 1)));
}

/** ONNX Celu, opset 12: Barron, https://arxiv.org/abs/1704.07483. */
function celu(call: OperatorCall, x: Value): Value {
  const alpha = call.float("alpha", 1);
  const grown = call.binary("sub", call.unary("exp", call.binary("div", x, alpha)), 1);
  return call.binary("add", call.binary("max", x, 0), call.binary("min", call.binary("mul", grown, alpha), 0));
}

/** ONNX Selu: Klambauer et al., https://arxiv.org/abs/1706.02515. */
function selu(call: OperatorCall, x: Value): Value {
  const alpha = call.float("alpha", 1.67326319217681884765625);
  const gamma = call.float("gamma", 1.05070102214813232421875);
  return call.binary("mul", byPositive(call, x, x, scaledExpm1(call, x, alpha)), gamma);
}

/** ONNX HardSigmoid. */
function hardSigmoid(call: OperatorCall, x: Value): Value {
  return clampedLine(call, x, call.float("alpha", 0.2), call.float("beta", 0.5));
}

/** Hard sigmoid: alpha * x + beta, clamped to the range 0 to 1. */
export function clampedLine(call: OperatorCall, x: Value, alpha: number, beta: number): Value {
  return call.binary("min", call.binary("max", line(call, x, alpha, beta), 0), 1);
}

/** The affine function alpha * x + beta, element by element. */
export function line(call: OperatorCall, x: Value, alpha: number, beta: number): Value {
  return call.binary("add", call.binary("mul", x, alpha), beta);
}

/** ONNX Softsign: x / (1 + |x|). */
export function softsign(call: OperatorCall, x: Value): Value {
  return call.binary("div", x, call.binary("add", call.unary("abs", x), 1));
}

/** ONNX Gelu, opset 20: Hendrycks and Gimpel, https://arxiv.org/abs/1606.08415. */
function gelu(call: OperatorCall, x: Value): Value {
  const approximate = call.string("approximate", "none");
  if (approximate !== "none" && approximate !== "tanh") throw new Error(`approximate "${approximate}" is neither none nor tanh`);
  return call.add({ kind: "gelu", approximate }, x);
}

/** ONNX PRelu from version 7 on: the slope broadcasts. */
function prelu(call: OperatorCall, x: Value): Value {
  return call.select(call.binary("less", x, 0), call.binary("mul", x, widened(call, call.tensor(1))), x);
}

/** ONNX PRelu up to version 6: the slope is one number, or one for each channel. */
function channelPrelu(call: OperatorCall): Value {
  const x = call.tensor(0);
  const slope = call.tensor(1);
  const trailing = slope.type.shape[0] === 1 ? 0 : x.type.shape.length - 2;
  const aligned = call.reshape(slope, [...slope.type.shape, ...Array.from({ length: trailing }, () => 1)]);
  return call.select(call.binary("less", x, 0), call.binary("mul", x, aligned), x);
}

/** ONNX ThresholdedRelu, opset 10: x above alpha, else 0. */
function thresholdedRelu(call: OperatorCall): Value {
  const x = call.tensor(0);
  return call.select(call.binary("greater", x, call.float("alpha", 1)), x, 0);
}

/** ONNX Shrink, opset 9: x moved by bias towards zero outside of -lambd..lambd, else 0. */
function shrink(call: OperatorCall, x: Value): Value {
  const bias = call.float("bias", 0);
  const bound = call.float("lambd", 0.5);
  const lower = call.select(call.binary("less", x, -bound), call.binary("add", x, bias), 0);
  return call.select(call.binary("greater", x, bound), call.binary("sub", x, bias), lower);
}

/** ONNX Swish, opset 24: x * sigmoid(alpha * x) (Ramachandran et al., https://arxiv.org/abs/1710.05941). */
function swish(call: OperatorCall, x: Value): Value {
  const alpha = call.float("alpha", 1);
  return call.binary("mul", x, call.unary("sigmoid", alpha === 1 ? x : call.binary("mul", x, alpha)));
}

/** ONNX SwiGLU, opset 28: swish(a) * b (Shazeer, https://arxiv.org/abs/2002.05202). */
function swiglu(call: OperatorCall, x: Value): Value {
  return call.binary("mul", swish(call, x), widened(call, call.tensor(1)));
}

/** ONNX Mish, opset 18: x * tanh(softplus(x)) (Misra, https://arxiv.org/abs/1908.08681). */
function mish(call: OperatorCall, x: Value): Value {
  return call.binary("mul", x, call.unary("tanh", call.unary("softplus", x)));
}

/** Translates activation functions of ai.onnx, such as Relu, Gelu and HardSwish, to graph operations. */
export const activations: OperatorFamily = {
  Relu: since(1, (call) => call.binary("max", call.tensor(0), 0)),
  LeakyRelu: since(1, computeWidened(leakyRelu)),
  PRelu: versions([1, channelPrelu], [7, computeWidened(prelu)]),
  Elu: since(1, computeWidened(elu)),
  Celu: since(12, computeWidened(celu)),
  Selu: since(1, computeWidened(selu)),
  Gelu: since(20, computeWidened(gelu)),
  Sigmoid: since(1, (call) => call.unary("sigmoid", call.tensor(0))),
  HardSigmoid: since(1, computeWidened(hardSigmoid)),
  HardSwish: since(
    14,
    computeWidened((call, x) => call.binary("mul", x, clampedLine(call, x, 1 / 6, 0.5))),
  ),
  Swish: since(24, computeWidened(swish)),
  SwiGLU: since(28, computeWidened(swiglu)),
  Mish: since(18, computeWidened(mish)),
  Tanh: since(1, (call) => call.unary("tanh", call.tensor(0))),
  Softplus: since(1, (call) => call.unary("softplus", call.tensor(0))),
  Softsign: since(1, computeWidened(softsign)),
  ThresholdedRelu: since(10, thresholdedRelu),
  Shrink: since(9, computeWidened(shrink)),
};
