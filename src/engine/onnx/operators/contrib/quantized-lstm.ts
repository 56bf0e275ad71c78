/** DynamicQuantizeLSTM of com.microsoft: LSTM with 8-bit weights, whose inputs and hidden states are quantized by their own range at every step. */
import type { Value } from "../../../ir/graph.ts";
import type { OperatorCall } from "../operator-call.ts";
import { type OperatorFamily, since } from "../operator-rule.ts";
import { dynamicQuantize } from "../quantization/quantization.ts";
import { lstmCell, recurrent, type RecurrentWeights } from "../nn/recurrent.ts";

/** Weights [directions, input size or H, gates * H], with scales and zero points per direction, or per column of a direction. */
const quantizedWeights: RecurrentWeights = {
  multiplier: (call, input, direction) => {
    const whole = call.cast(call.tensor(input), "int32");
    const [, rows = 0, columns = 0] = whole.type.shape;
    const [scale, zero] = input === 1 ? [8, 9] : [10, 11];
    const part = (values: Value): Value => {
      const own = call.slice(values, 0, direction, 1);
      return call.reshape(own, own.type.shape.length === 1 ? [] : own.type.shape.slice(1));
    };
    const own = call.reshape(call.slice(whole, 0, direction, 1), [rows, columns]);
    const centred = call.binary("sub", own, part(call.cast(call.tensor(zero), "int32")));
    const scales = part(call.tensor(scale));
    return (given, from = 0, some = columns) => {
      if (from !== 0 || some !== columns) throw new Error("some columns of quantized weights are not supported");
      return multiplied(call, given, centred, scales);
    };
  },
  shape: (call, input) => call.tensor(input).type.shape,
};

/** rows * weights * scales, with the rows quantized dynamically. */
function multiplied(call: OperatorCall, rows: Value, weights: Value, scales: Value): Value {
  const [whole, scale, zero] = dynamicQuantize(call, rows);
  const left = call.binary("sub", call.cast(whole, "int32"), call.cast(zero, "int32"));
  const sums = call.cast(call.add({ kind: "matmul" }, left, weights), "float32");
  return call.binary("mul", sums, call.binary("mul", scale, scales));
}

/** Translates DynamicQuantizeLSTM of com.microsoft to graph operations. */
export const contribQuantizedLstm: OperatorFamily = {
  "com.microsoft:DynamicQuantizeLSTM": since(1, recurrent(lstmCell, quantizedWeights)),
};
