/** Precision of composite functions: types smaller than float32 are computed in float32 and rounded once, at the end, as ONNX's reference implementation does. */
import { type ElementType, isFloat } from "../../ir/element-types.ts";
import type { Value } from "../../ir/graph.ts";
import type { OperatorCall } from "./operator-call.ts";
import type { Translate } from "./operator-rule.ts";

/** The type that a composite function computes in: float32 for smaller floating-point types, else the type itself. */
export function computeType(type: ElementType): ElementType {
  return isFloat(type) && type !== "float64" ? "float32" : type;
}

/** x cast to the type that operators compute in: float32 for smaller floating-point types, else its own type. */
export function widened(call: OperatorCall, x: Value): Value {
  return call.cast(x, computeType(x.type.dataType));
}

/** An optional input cast as `widened` does; undefined if the model leaves it out. */
export function widenedIfGiven(call: OperatorCall, input: number): Value | undefined {
  const x = call.tensorIfGiven(input);
  return x === undefined ? undefined : widened(call, x);
}

/** A translation that is given the first input in its compute type, and whose result is cast back to the type of that input. */
export function computeWidened(compute: (call: OperatorCall, x: Value) => Value): Translate {
  return (call) => {
    const x = call.tensor(0);
    return call.cast(compute(call, widened(call, x)), x.type.dataType);
  };
}
