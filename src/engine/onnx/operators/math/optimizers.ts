/**
 * Optimizer steps of ai.onnx.preview.training. Inputs: learning rate, update count, then all tensors, all their gradients and all their states.
 * Outputs: all new tensors, then all new states.
 */
import type { Value } from "../../../ir/graph.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type Translate, type OperatorFamily, since } from "../operator-rule.ts";

interface Step {
  readonly rate: Value;
  /** Number of updates so far, in the type of the tensor. */
  readonly count: Value;
  readonly x: Value;
  readonly gradient: Value;
  readonly states: readonly Value[];
}

/** The translation of an optimizer with `stateCount` states per tensor. `update` returns the new tensor and its new states. */
function optimizer(stateCount: number, update: (call: OperatorCall, step: Step) => readonly Value[]): Translate {
  return (call) => {
    const tensors = (call.inputCount - 2) / (2 + stateCount);
    if (!Number.isInteger(tensors) || tensors < 1)
      throw new Error(`${call.inputCount} inputs do not make up tensors, gradients and states`);
    const updated = Array.from({ length: tensors }, (_, index) => {
      const x = call.tensor(2 + index);
      const { dataType } = x.type;
      const plain = call.tensor(2 + tensors + index);
      const gradient = call.binary("add", call.binary("mul", x, call.float("norm_coefficient", 0)), plain);
      const states = Array.from({ length: stateCount }, (_, state) => call.tensor(2 + (2 + state) * tensors + index));
      return update(call, {
        rate: call.cast(call.tensor(0), dataType),
        count: call.cast(call.tensor(1), dataType),
        x,
        gradient,
        states,
      });
    });
    return Array.from({ length: 1 + stateCount }, (_, output) =>
      updated.flatMap((values) => values.slice(output, output + 1)),
    ).flat();
  };
}

/** Adagrad: Duchi et al., https://jmlr.org/papers/v12/duchi11a.html. */
function adagrad(call: OperatorCall, { rate, count, x, gradient, states: [squares] }: Step): readonly Value[] {
  if (squares === undefined) throw new Error("the state is missing");
  const decayed = call.binary("div", rate, call.binary("add", call.binary("mul", count, call.float("decay_factor", 0)), 1));
  const summed = call.binary("add", squares, call.binary("mul", gradient, gradient));
  const root = call.binary("add", call.unary("sqrt", summed), call.float("epsilon", 1e-6));
  return [call.binary("sub", x, call.binary("div", call.binary("mul", decayed, gradient), root)), summed];
}

/** Adam: Kingma and Ba, https://arxiv.org/abs/1412.6980. As ONNX specifies, the first step has no bias correction. */
function adam(call: OperatorCall, { rate, count, x, gradient, states: [mean, squares] }: Step): readonly Value[] {
  if (mean === undefined || squares === undefined) throw new Error("a state is missing");
  const [alpha, beta] = [call.float("alpha", 0.9), call.float("beta", 0.999)];
  const newMean = blend(call, mean, gradient, alpha);
  const newSquares = blend(call, squares, call.binary("mul", gradient, gradient), beta);
  const root = call.binary("add", call.unary("sqrt", newSquares), call.float("epsilon", 1e-6));
  const rest = (factor: number): Value => call.binary("sub", 1, call.binary("pow", call.scalar(factor, x.type.dataType), count));
  const corrected = call.binary("div", call.binary("mul", rate, call.unary("sqrt", rest(beta))), rest(alpha));
  const adjusted = call.select(call.binary("greater", count, 0), corrected, rate);
  const moved = call.binary("sub", x, call.binary("mul", adjusted, call.binary("div", newMean, root)));
  return [call.binary("mul", moved, 1 - call.float("norm_coefficient_post", 0)), newMean, newSquares];
}

/** Exponential moving average: old * part + new * (1 - part). */
function blend(call: OperatorCall, old: Value, current: Value, part: number): Value {
  return call.binary("add", call.binary("mul", old, part), call.binary("mul", current, 1 - part));
}

/** Momentum: standard, or Nesterov's accelerated gradient. */
function momentum(call: OperatorCall, { rate, count, x, gradient, states: [velocity] }: Step): readonly Value[] {
  if (velocity === undefined) throw new Error("the state is missing");
  const mode = call.string("mode", "standard");
  if (mode !== "standard" && mode !== "nesterov") throw new Error(`mode "${mode}" is unknown`);
  const alpha = call.float("alpha", 0.9);
  const part = call.select(call.binary("greater", count, 0), call.scalar(call.float("beta", 1), x.type.dataType), 1);
  const moved = call.binary("add", call.binary("mul", velocity, alpha), call.binary("mul", part, gradient));
  const direction = mode === "standard" ? moved : call.binary("add", gradient, call.binary("mul", moved, alpha));
  return [call.binary("sub", x, call.binary("mul", rate, direction)), moved];
}

/** Translates one step of the training optimizers Adagrad, Adam and Momentum (ai.onnx.preview.training) to graph operations. */
export const optimizers: OperatorFamily = {
  "ai.onnx.preview.training:Adagrad": since(1, optimizer(1, adagrad)),
  "ai.onnx.preview.training:Adam": since(1, optimizer(2, adam)),
  "ai.onnx.preview.training:Momentum": since(1, optimizer(1, momentum)),
};
