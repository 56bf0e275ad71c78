/**
 * Random numbers. With a seed each run gives the same ones, so that they are constants like others; without one each run draws its own, and a
 * program keeps the call.
 */
import type { ElementType } from "../../../ir/element-types.ts";
import type { Value } from "../../../ir/graph.ts";
import type { CallAttributes } from "../../../ir/operations.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type Translate, type OperatorFamily, since } from "../operator-rule.ts";

/** `attributes` without the seed, which is the node's own. */
export function draw(
  call: OperatorCall,
  name: "random-uniform" | "random-normal" | "multinomial",
  attributes: CallAttributes,
  type: { readonly dataType: ElementType; readonly shape: readonly number[] },
  ...inputs: readonly Value[]
): Value {
  const seed = call.floatIfGiven("seed");
  const operation = { kind: "call", function: name, types: [type] } as const;
  return seed === undefined
    ? call.add({ ...operation, attributes, nondeterministic: true }, ...inputs)
    : call.add({ ...operation, attributes: { ...attributes, seed } }, ...inputs);
}

function uniform(call: OperatorCall, dataType: ElementType, shape: readonly number[]): Value {
  return draw(call, "random-uniform", { low: call.float("low", 0), high: call.float("high", 1) }, { dataType, shape });
}

function normal(call: OperatorCall, dataType: ElementType, shape: readonly number[]): Value {
  return draw(call, "random-normal", { mean: call.float("mean", 0), scale: call.float("scale", 1) }, { dataType, shape });
}

/** The shape is an attribute, or that of the input. */
function shaped(make: (call: OperatorCall, dataType: ElementType, shape: readonly number[]) => Value): Translate {
  return (call) => {
    const shape = call.ints("shape");
    if (shape === undefined || shape.some((size) => size < 0)) throw new Error("it states no shape");
    return make(call, call.elementType("dtype") ?? "float32", shape);
  };
}

function like(make: (call: OperatorCall, dataType: ElementType, shape: readonly number[]) => Value): Translate {
  return (call) => {
    const { dataType, shape } = call.tensor(0).type;
    return make(call, call.elementType("dtype") ?? dataType, shape);
  };
}

/** 1 with the probability that the input states, else 0. */
function bernoulli(call: OperatorCall): Value {
  const chances = call.tensor(0);
  const drawn = draw(call, "random-uniform", { low: 0, high: 1 }, chances.type);
  return call.cast(call.binary("less", drawn, chances), call.elementType("dtype") ?? chances.type.dataType);
}

function multinomial(call: OperatorCall): Value {
  const logits = call.tensor(0);
  const [batch = 0, classes = 0] = logits.type.shape;
  const samples = call.int("sample_size", 1);
  const dataType = call.elementType("dtype") ?? "int32";
  if (logits.type.shape.length !== 2 || classes === 0 || samples < 1)
    throw new Error(`it draws ${samples} of [${logits.type.shape.join(", ")}]`);
  return draw(call, "multinomial", {}, { dataType, shape: [batch, samples] }, logits);
}

export const random: OperatorFamily = {
  RandomUniform: since(1, shaped(uniform)),
  RandomUniformLike: since(1, like(uniform)),
  RandomNormal: since(1, shaped(normal)),
  RandomNormalLike: since(1, like(normal)),
  Bernoulli: since(15, bernoulli),
  Multinomial: since(7, multinomial),
};
