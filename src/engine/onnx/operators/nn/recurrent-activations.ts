/** Activation functions that recurrent operators name in their attributes. */
import type { Value } from "../../../ir/graph.ts";
import { clampedLine, leakyRelu, line, scaledExpm1, softsign } from "../math/activations.ts";
import type { OperatorCall } from "../operator-call.ts";

/** Applies an activation function to a tensor, element by element. */
export type ActivationFunction = (call: OperatorCall, x: Value) => Value;

interface Named {
  /** Default of alpha; null if it must be given, absent if the function has none. */
  readonly alpha?: number | null;
  readonly beta?: number | null;
  readonly compute: (call: OperatorCall, x: Value, alpha: number, beta: number) => Value;
}

/** By name in lower case. */
const named: Readonly<Record<string, Named>> = {
  relu: { compute: (call, x) => call.binary("max", x, 0) },
  tanh: { compute: (call, x) => call.unary("tanh", x) },
  sigmoid: { compute: (call, x) => call.unary("sigmoid", x) },
  softsign: { compute: softsign },
  softplus: { compute: (call, x) => call.unary("softplus", x) },
  affine: { alpha: null, beta: null, compute: line },
  leakyrelu: { alpha: 0.01, compute: leakyRelu },
  thresholdedrelu: { alpha: 1, compute: (call, x, alpha) => call.select(call.binary("greater", x, alpha), x, 0) },
  scaledtanh: {
    alpha: null,
    beta: null,
    compute: (call, x, alpha, beta) => call.binary("mul", call.unary("tanh", call.binary("mul", x, beta)), alpha),
  },
  hardsigmoid: { alpha: 0.2, beta: 0.5, compute: clampedLine },
  elu: {
    alpha: 1,
    compute: (call, x, alpha) => call.select(call.binary("less", x, 0), scaledExpm1(call, x, alpha), x),
  },
};

/**
 * The activation functions of each direction. The attributes `activation_alpha` and `activation_beta` list the parameters of those functions that have
 * any, in order. `defaults`: names for one direction if the node names none.
 */
export function getActivations(
  call: OperatorCall,
  defaults: readonly string[],
  directions: number,
): readonly (readonly ActivationFunction[])[] {
  const names = call.strings("activations") ?? Array.from({ length: directions }, () => defaults).flat();
  const alphas = [...(call.floats("activation_alpha") ?? [])];
  const betas = [...(call.floats("activation_beta") ?? [])];
  if (names.length !== defaults.length * directions)
    throw new Error(`${names.length} activations are given, and ${defaults.length * directions} are needed`);
  const all = names.map((name) => withParameters(name, alphas, betas));
  return Array.from({ length: directions }, (_, direction) =>
    all.slice(direction * defaults.length, (direction + 1) * defaults.length),
  );
}

/** The activation function of a name, with the parameters alpha and beta. Throws if the name is unknown. */
export function getActivation(name: string, parameters: readonly number[]): ActivationFunction {
  return withParameters(name, parameters.slice(0, 1), parameters.slice(1, 2));
}

/** Removes the parameters that the function takes from the start of the lists. */
function withParameters(name: string, alphas: number[], betas: number[]): ActivationFunction {
  const key = name.toLowerCase();
  const found = Object.hasOwn(named, key) ? named[key] : undefined;
  if (found === undefined) throw new Error(`activation "${name}" is unknown`);
  const alpha = parameter(found.alpha, alphas, name);
  const beta = parameter(found.beta, betas, name);
  return (call, x) => found.compute(call, x, alpha, beta);
}

function parameter(otherwise: number | null | undefined, stated: number[], name: string): number {
  if (otherwise === undefined) return 0;
  const value = stated.shift() ?? otherwise;
  if (value === null) throw new Error(`the activation "${name}" needs a parameter that is not given`);
  return value;
}
