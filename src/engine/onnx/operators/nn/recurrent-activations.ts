/** Activation functions that recurrent networks name, with their parameters. */
import type { Value } from "../../../ir/graph.ts";
import type { OperatorCall } from "../operator-call.ts";

export type ActivationFunction = (call: OperatorCall, x: Value) => Value;

interface Named {
  /** Default of alpha; null where it must be stated, left out where there is none. */
  readonly alpha?: number | null;
  readonly beta?: number | null;
  readonly compute: (call: OperatorCall, x: Value, alpha: number, beta: number) => Value;
}

/** By their names in lower case. */
const named: Readonly<Record<string, Named>> = {
  relu: { compute: (call, x) => call.binary("max", x, 0) },
  tanh: { compute: (call, x) => call.unary("tanh", x) },
  sigmoid: { compute: (call, x) => call.unary("sigmoid", x) },
  softsign: { compute: (call, x) => call.binary("div", x, call.binary("add", call.unary("abs", x), 1)) },
  softplus: { compute: (call, x) => call.unary("softplus", x) },
  affine: { alpha: null, beta: null, compute: (call, x, alpha, beta) => line(call, x, alpha, beta) },
  leakyrelu: {
    alpha: 0.01,
    compute: (call, x, alpha) => call.select(call.binary("less", x, 0), call.binary("mul", x, alpha), x),
  },
  thresholdedrelu: { alpha: 1, compute: (call, x, alpha) => call.select(call.binary("greater", x, alpha), x, 0) },
  scaledtanh: {
    alpha: null,
    beta: null,
    compute: (call, x, alpha, beta) => call.binary("mul", call.unary("tanh", call.binary("mul", x, beta)), alpha),
  },
  hardsigmoid: {
    alpha: 0.2,
    beta: 0.5,
    compute: (call, x, alpha, beta) => call.binary("min", call.binary("max", line(call, x, alpha, beta), 0), 1),
  },
  elu: {
    alpha: 1,
    compute: (call, x, alpha) =>
      call.select(call.binary("less", x, 0), call.binary("mul", call.binary("sub", call.unary("exp", x), 1), alpha), x),
  },
};

function line(call: OperatorCall, x: Value, alpha: number, beta: number): Value {
  return call.binary("add", call.binary("mul", x, alpha), beta);
}

/** For each direction its functions. Their parameters are listed in the order of the functions that have any. */
export function activationsOf(
  call: OperatorCall,
  defaults: readonly string[],
  directions: number,
): readonly (readonly ActivationFunction[])[] {
  const names = call.strings("activations") ?? Array.from({ length: directions }, () => defaults).flat();
  const alphas = [...(call.floats("activation_alpha") ?? [])];
  const betas = [...(call.floats("activation_beta") ?? [])];
  if (names.length !== defaults.length * directions)
    throw new Error(`it names ${names.length} activations, and ${defaults.length * directions} are wanted`);
  const all = names.map((name) => withParameters(name, alphas, betas));
  return Array.from({ length: directions }, (_, direction) =>
    all.slice(direction * defaults.length, (direction + 1) * defaults.length),
  );
}

/** One function with its parameters: alpha, then beta. */
export function activationOf(name: string, parameters: readonly number[]): ActivationFunction {
  return withParameters(name, parameters.slice(0, 1), parameters.slice(1, 2));
}

/** Takes what it needs from the begin of each list. */
function withParameters(name: string, alphas: number[], betas: number[]): ActivationFunction {
  const key = name.toLowerCase();
  const found = Object.hasOwn(named, key) ? named[key] : undefined;
  if (found === undefined) throw new Error(`its activation "${name}" is unknown`);
  const alpha = parameter(found.alpha, alphas, name);
  const beta = parameter(found.beta, betas, name);
  return (call, x) => found.compute(call, x, alpha, beta);
}

function parameter(otherwise: number | null | undefined, stated: number[], name: string): number {
  if (otherwise === undefined) return 0;
  const value = stated.shift() ?? otherwise;
  if (value === null) throw new Error(`its activation "${name}" lacks a parameter`);
  return value;
}
