/** What composite functions compute in: float32 where the type is smaller, so that they are rounded once, at the end, as ONNX's reference does it. */
import { type ElementType, isFloat } from "../../ir/element-types.ts";
import type { Value } from "../../ir/graph.ts";
import type { OperatorCall } from "./operator-call.ts";
import type { Translate } from "./operator-rule.ts";

/** float32 for the smaller floating-point types, else the type itself. */
export function computeType(type: ElementType): ElementType {
  return isFloat(type) && type !== "float64" ? "float32" : type;
}

export function widened(call: OperatorCall, x: Value): Value {
  return call.cast(x, computeType(x.type.dataType));
}

export function widenedIfGiven(call: OperatorCall, input: number): Value | undefined {
  const x = call.tensorIfGiven(input);
  return x === undefined ? undefined : widened(call, x);
}

/** A rule that computes with the first input in the wide type, and rounds the result back to that of the input. */
export function computeWidened(compute: (call: OperatorCall, x: Value) => Value): Translate {
  return (call) => {
    const x = call.tensor(0);
    return call.cast(compute(call, widened(call, x)), x.type.dataType);
  };
}
