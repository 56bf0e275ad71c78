/**
 * Random number generation. With a seed the numbers are the same in every run, so they are folded into a constant; without one the graph keeps the call, and
 * every run draws new numbers. They differ from other ONNX implementations.
 */
import type { ElementType } from "../../../ir/element-types.ts";
import type { Value } from "../../../ir/graph.ts";
import type { CallAttributes } from "../../../ir/operations.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type Translate, type OperatorFamily, since } from "../operator-rule.ts";

/** Adds a call of an interpreted random function, with the seed of the node if it has one. */
function draw(
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

/** ONNX RandomUniform: from `low` up to but without `high`. */
function uniform(call: OperatorCall, dataType: ElementType, shape: readonly number[]): Value {
  return draw(call, "random-uniform", { low: call.float("low", 0), high: call.float("high", 1) }, { dataType, shape });
}

/** ONNX RandomNormal. */
function normal(call: OperatorCall, dataType: ElementType, shape: readonly number[]): Value {
  return draw(call, "random-normal", { mean: call.float("mean", 0), scale: call.float("scale", 1) }, { dataType, shape });
}

/** A translation that takes shape and type from attributes. */
function shaped(make: (call: OperatorCall, dataType: ElementType, shape: readonly number[]) => Value): Translate {
  return (call) => {
    const shape = call.ints("shape");
    if (shape === undefined || shape.some((size) => size < 0)) throw new Error("the attribute shape is missing or negative");
    return make(call, call.elementType("dtype") ?? "float32", shape);
  };
}

/** A translation that takes the shape, and by default the type, of the input. */
function like(make: (call: OperatorCall, dataType: ElementType, shape: readonly number[]) => Value): Translate {
  return (call) => {
    const { dataType, shape } = call.tensor(0).type;
    return make(call, call.elementType("dtype") ?? dataType, shape);
  };
}

/** ONNX Bernoulli: 1 with the probability that the input gives, else 0. */
function bernoulli(call: OperatorCall): Value {
  const probabilities = call.tensor(0);
  const drawn = draw(call, "random-uniform", { low: 0, high: 1 }, probabilities.type);
  return call.cast(call.binary("less", drawn, probabilities), call.elementType("dtype") ?? probabilities.type.dataType);
}

/** ONNX Multinomial: classes [batch, sample_size], drawn by unnormalized log-probabilities [batch, classes]. */
function multinomial(call: OperatorCall): Value {
  const logits = call.tensor(0);
  const [batch = 0, classes = 0] = logits.type.shape;
  const samples = call.int("sample_size", 1);
  const dataType = call.elementType("dtype") ?? "int32";
  if (logits.type.shape.length !== 2 || classes === 0 || samples < 1)
    throw new Error(`sample_size ${samples} and logits of shape [${logits.type.shape.join(", ")}] are invalid`);
  return draw(call, "multinomial", {}, { dataType, shape: [batch, samples] }, logits);
}

/** Translates random number generators of ai.onnx, such as RandomNormal and Bernoulli, which the interpreter computes. */
export const random: OperatorFamily = {
  RandomUniform: since(1, shaped(uniform)),
  RandomUniformLike: since(1, like(uniform)),
  RandomNormal: since(1, shaped(normal)),
  RandomNormalLike: since(1, like(normal)),
  Bernoulli: since(15, bernoulli),
  Multinomial: since(7, multinomial),
};
