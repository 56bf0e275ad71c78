/** Dropout: Srivastava et al., https://jmlr.org/papers/v15/srivastava14a.html. */
import { elementCount } from "../../../../contract/tensor.ts";
import type { Value } from "../../../ir/graph.ts";
import { toLiteral, toNumbers } from "../../../ir/literal.ts";
import { mersenneTwister } from "./mersenne-twister.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";

/**
 * ONNX Dropout. The identity unless in training mode (an input from version 12 on). In training mode with a seed it drops the same elements as ONNX's
 * reference implementation; without a seed it throws.
 */
function dropout(call: OperatorCall): readonly Value[] {
  const x = call.tensor(0);
  const ratio = trainingRatio(call);
  const seed = call.intIfGiven("seed");
  if (ratio === 0) return call.usesOutput(1) ? [x, mask(call, Float64Array.of(1), [])] : [x];
  if (seed === undefined) throw new Error("training mode needs the attribute seed, without which the result is random");
  call.builder.reserve({ dataType: "float64", shape: x.type.shape });
  const random = mersenneTwister(seed);
  const kept = Float64Array.from({ length: elementCount(x.type.shape) }, () => Number(random() >= ratio));
  const chosen = mask(call, kept, x.type.shape);
  return [call.select(chosen, call.binary("div", x, 1 - ratio), 0), chosen];
}

/** The ratio in training mode, else 0. */
function trainingRatio(call: OperatorCall): number {
  const { version } = call;
  if (version < 12) {
    const trains = version < 7 && call.int("is_test", 0) === 0;
    call.ignore("consumed_inputs");
    if (call.float("ratio", 0.5) !== 0 && trains) throw new Error(`training mode is not supported in version ${version}`);
    return 0;
  }
  if (call.tensorIfGiven(2) === undefined || call.knownIntegers(2)[0] === 0) return 0;
  const ratio = call.tensorIfGiven(1) === undefined ? 0.5 : (toNumbers(call.known(1))[0] ?? 0.5);
  if (!(ratio >= 0 && ratio < 1)) throw new Error(`the ratio is ${ratio}, and must be from 0 to below 1`);
  return ratio;
}

/** The second output: true where an element is kept. Undefined by the specification before version 12 outside of training; zeros, as in other engines. */
function mask(call: OperatorCall, kept: Float64Array, shape: readonly number[]): Value {
  if (call.version < 12) return call.zeros(call.version < 10 ? call.tensor(0).type.dataType : "bool", call.tensor(0).type.shape);
  const given = call.builder.constant(toLiteral("bool", shape, kept));
  return call.add({ kind: "expand", shape: call.tensor(0).type.shape }, given);
}

/** Translates the ONNX operator Dropout, which copies its input unless it is in training mode. */
export const dropouts: OperatorFamily = {
  Dropout: since(1, dropout),
};
