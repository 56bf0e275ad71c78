/** Conversions between element types: Cast, CastLike and BitCast. */
import { type ElementType, isFloat } from "../../../ir/element-types.ts";
import type { Value } from "../../../ir/graph.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";

/** ONNX Cast, https://onnx.ai/onnx/operators/onnx__Cast.html. Attributes that came with later versions are read wherever they occur. */
function cast(call: OperatorCall): Value {
  return castTo(call, targetType(call));
}

/** ONNX CastLike: to the type of the second input. */
function castLike(call: OperatorCall): Value {
  return castTo(call, call.tensor(1).type.dataType);
}

/** Only casts to floating-point types saturate (`saturate`, for float8); integers wrap around, as in C. */
function castTo(call: OperatorCall, to: ElementType): Value {
  const saturate = call.int("saturate", 1) === 1;
  const mode = call.string("round_mode", "up");
  if (to === "float8e8m0" && mode !== "up") throw new Error(`round_mode "${mode}" is not supported for float8e8m0`);
  return call.cast(call.tensor(0), to, saturate && isFloat(to));
}

/** ONNX BitCast: the same bits as another type of equal width. */
function bitCast(call: OperatorCall): Value {
  return call.add({ kind: "bitcast", to: targetType(call) }, call.tensor(0));
}

function targetType(call: OperatorCall): ElementType {
  const to = call.elementType("to");
  if (to === undefined) throw new Error('the attribute "to" is missing');
  return to;
}

/** Translates the type conversions Cast, CastLike and BitCast of ai.onnx to graph operations. */
export const casts: OperatorFamily = {
  Cast: since(6, cast),
  CastLike: since(15, castLike),
  BitCast: since(26, bitCast),
};
