/** Label encoders of ai.onnx.ml. Strings exist only in the interpreter, which does the lookup. */
import type { Value } from "../../../ir/graph.ts";
import { int64Literal, type Literal, toLiteral } from "../../../ir/literal.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since, versions } from "../operator-rule.ts";

/** A table that maps keys to values. */
interface Mapping {
  readonly keys: Literal;
  readonly values: Literal;
  /** The value of unknown keys: one element. */
  readonly otherwise: Literal;
}

/** The input with every element replaced by its value in the table. */
function mapped(call: OperatorCall, { keys, values, otherwise }: Mapping): Value {
  const x = call.tensor(0);
  if (x.type.dataType !== keys.dataType) throw new Error(`the keys are ${keys.dataType}, and the input is ${x.type.dataType}`);
  if (keys.data.length !== values.data.length)
    throw new Error(`there are ${keys.data.length} keys and ${values.data.length} values`);
  const types = [{ dataType: values.dataType, shape: x.type.shape }];
  const [given, rest] = [values, otherwise].map((literal) => call.reshape(call.builder.constant(literal), [literal.data.length]));
  if (given === undefined || rest?.type.shape[0] !== 1) throw new Error("the default must be one value");
  const all = call.add({ kind: "concat", axis: 0 }, given, rest);
  return call.add({ kind: "call", function: "lookup", attributes: {}, types }, x, call.builder.constant(keys), all);
}

/** LabelEncoder of version 1: strings to their indices in a list, or indices to strings. */
function indexEncoder(call: OperatorCall): Value {
  const names = call.strings("classes_strings") ?? [];
  return mappedNames(call, names, [...names.keys()]);
}

/** Strings to integers, or integers to strings, by the type of the input. */
function mappedNames(call: OperatorCall, strings: readonly string[], integers: readonly number[]): Value {
  const names: Literal = { dataType: "string", shape: [strings.length], data: strings };
  const numbers = int64Literal(integers);
  const [unknownName, unknownNumber] = [call.string("default_string", "_Unused"), call.int("default_int64", -1)];
  return call.tensor(0).type.dataType === "string"
    ? mapped(call, { keys: names, values: numbers, otherwise: int64Literal([unknownNumber]) })
    : mapped(call, { keys: numbers, values: names, otherwise: { dataType: "string", shape: [1], data: [unknownName] } });
}

/** LabelEncoder from version 2 on: keys and values are lists of any type, from version 4 on also tensors. */
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
      : toLiteral(dataType, [1], [dataType === "int64" || dataType === "int16" ? whole : float]));
  return mapped(call, { keys: list(call, "keys"), values, otherwise });
}

/** Keys or values, from whichever attribute holds them. */
function list(call: OperatorCall, name: "keys" | "values"): Literal {
  const tensor = call.literal(`${name}_tensor`);
  if (tensor !== undefined) return tensor;
  const texts = call.strings(`${name}_strings`);
  if (texts !== undefined) return { dataType: "string", shape: [texts.length], data: texts };
  const numbers = call.ints(`${name}_int64s`);
  if (numbers !== undefined) return toLiteral("int64", [numbers.length], numbers);
  const floats = call.floats(`${name}_floats`);
  if (floats !== undefined) return toLiteral("float32", [floats.length], floats);
  throw new Error(`the attribute for ${name} is missing`);
}

/** CategoryMapper: strings to integers, or integers to strings. */
function categoryMapper(call: OperatorCall): Value {
  return mappedNames(call, call.strings("cats_strings") ?? [], call.ints("cats_int64s") ?? []);
}

/** Translates LabelEncoder and CategoryMapper of ai.onnx.ml, which replace keys by values from a table. */
export const labelEncoders: OperatorFamily = {
  "ai.onnx.ml:LabelEncoder": versions([1, indexEncoder], [2, labelEncoder]),
  "ai.onnx.ml:CategoryMapper": since(1, categoryMapper),
};
