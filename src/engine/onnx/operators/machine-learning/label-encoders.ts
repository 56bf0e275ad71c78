/** ai.onnx.ml: labels in the place of labels. Texts exist only in the interpreter, which looks them up. */
import type { Value } from "../../../ir/graph.ts";
import { type Literal, literalOf } from "../../../ir/literal.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since, versions } from "../operator-rule.ts";

interface Mapping {
  readonly keys: Literal;
  readonly values: Literal;
  /** What a key that is not there becomes: one element. */
  readonly otherwise: Literal;
}

function mapped(call: OperatorCall, { keys, values, otherwise }: Mapping): Value {
  const x = call.tensor(0);
  if (x.type.dataType !== keys.dataType) throw new Error(`it maps ${keys.dataType}, and is given ${x.type.dataType}`);
  if (keys.data.length !== values.data.length) throw new Error(`${keys.data.length} keys and ${values.data.length} values`);
  const types = [{ dataType: values.dataType, shape: x.type.shape }];
  const [given, rest] = [values, otherwise].map((literal) => call.reshape(call.builder.constant(literal), [literal.data.length]));
  if (given === undefined || rest?.type.shape[0] !== 1) throw new Error("it states more than one value for what is no key");
  const all = call.add({ kind: "concat", axis: 0 }, given, rest);
  return call.add({ kind: "call", function: "lookup", attributes: {}, types }, x, call.builder.constant(keys), all);
}

/** Version 1: texts become their places in a list, or places the texts. */
function placeEncoder(call: OperatorCall): Value {
  const texts = call.strings("classes_strings") ?? [];
  const names: Literal = { dataType: "string", shape: [texts.length], data: texts };
  const places = literalOf("int64", [texts.length], [...texts.keys()]);
  const [text, number] = [call.string("default_string", "_Unused"), call.int("default_int64", -1)];
  return call.tensor(0).type.dataType === "string"
    ? mapped(call, { keys: names, values: places, otherwise: literalOf("int64", [1], [number]) })
    : mapped(call, { keys: places, values: names, otherwise: { dataType: "string", shape: [1], data: [text] } });
}

/** Version 2 has lists of each type; version 4 tensors as well. */
function labelEncoder(call: OperatorCall): Value {
  const values = list(call, "values");
  const stated = call.literal("default_tensor");
  const [text, float, whole] = [
    call.string("default_string", "_Unused"),
    call.float("default_float", -0),
    call.int("default_int64", -1),
  ];
  const { dataType } = values;
  const otherwise: Literal =
    stated ??
    (dataType === "string"
      ? { dataType, shape: [1], data: [text] }
      : literalOf(dataType, [1], [dataType === "int64" || dataType === "int16" ? whole : float]));
  return mapped(call, { keys: list(call, "keys"), values, otherwise });
}

function list(call: OperatorCall, name: "keys" | "values"): Literal {
  const tensor = call.literal(`${name}_tensor`);
  if (tensor !== undefined) return tensor;
  const texts = call.strings(`${name}_strings`);
  if (texts !== undefined) return { dataType: "string", shape: [texts.length], data: texts };
  const numbers = call.ints(`${name}_int64s`);
  if (numbers !== undefined) return literalOf("int64", [numbers.length], numbers);
  const floats = call.floats(`${name}_floats`);
  if (floats !== undefined) return literalOf("float32", [floats.length], floats);
  throw new Error(`it states no ${name}`);
}

function categoryMapper(call: OperatorCall): Value {
  const texts = call.strings("cats_strings") ?? [];
  const names: Literal = { dataType: "string", shape: [texts.length], data: texts };
  const numbers = literalOf("int64", [texts.length], call.ints("cats_int64s") ?? []);
  const [text, number] = [call.string("default_string", "_Unused"), call.int("default_int64", -1)];
  return call.tensor(0).type.dataType === "string"
    ? mapped(call, { keys: names, values: numbers, otherwise: literalOf("int64", [1], [number]) })
    : mapped(call, { keys: numbers, values: names, otherwise: { dataType: "string", shape: [1], data: [text] } });
}

export const labelEncoders: OperatorFamily = {
  "ai.onnx.ml:LabelEncoder": versions([1, placeEncoder], [2, labelEncoder]),
  "ai.onnx.ml:CategoryMapper": since(1, categoryMapper),
};
