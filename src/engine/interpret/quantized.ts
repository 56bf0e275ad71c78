/** Operations on quantized tensors. */
import { type Literal, toLiteral, toNumbers } from "../ir/literal.ts";
import type { One, Three, Two } from "./operands.ts";
import type { OperationOf } from "../ir/operations.ts";
import { roundHalfToEven } from "../../contract/small-floats.ts";
import { evaluateCast } from "./casts.ts";
import { evaluateBinary } from "./elementwise.ts";
import { applyEpilogue } from "./fused.ts";
import { evaluateMatmul } from "./products.ts";

type Literals = readonly Literal[];

/** Evaluates `quantization-range` in the steps of ONNX DynamicQuantizeLinear, each rounded to float32. A NaN in x gives a scale of NaN. */
export function evaluateQuantizationRange(_: OperationOf<"quantization-range">, [x]: One): Literals {
  const { fround } = Math;
  const numbers = toNumbers(x);
  let [lowest, highest] = [0, 0];
  for (let index = 0; index < numbers.length; index += 1) {
    lowest = Math.min(lowest, numbers[index] ?? 0);
    highest = Math.max(highest, numbers[index] ?? 0);
  }
  const width = fround(highest - lowest);
  const scale = width === 0 ? 1 : fround(width / 255);
  const zero = toLiteral("float32", [], Float64Array.of(roundHalfToEven(fround(0 - fround(lowest / scale)))));
  return [
    toLiteral("float32", [], Float64Array.of(scale)),
    ...evaluateCast({ kind: "cast", to: "uint8", saturate: true }, [zero]),
  ];
}

/**
 * Evaluates `quantize`: x / scale, rounded half to even, plus the zero point, saturated to 0..255; then subtracts the zero point. The result is
 * int16.
 */
export function evaluateQuantize(_: OperationOf<"quantize">, [x, scale, zero]: Three): Literals {
  const [step = 1] = Array.from(toNumbers(scale));
  const [shift = 0] = Array.from(toNumbers(zero));
  const quanta = Float64Array.from(toNumbers(x), (value) => {
    const quantum = roundHalfToEven(Math.fround(value / step)) + shift;
    return Math.max(0, Math.min(255, quantum)) - shift;
  });
  return [toLiteral("int16", x.shape, quanta)];
}

/** Evaluates `subtract-zero-point`: x (uint8 or int8) minus its zero point, as int16. Without a zero point, x itself as int16. */
export function evaluateSubtractZeroPoint(
  _: OperationOf<"subtract-zero-point">,
  [x, zero]: readonly [Literal, Literal?],
): Literals {
  const [shift = 0] = zero === undefined ? [] : Array.from(toNumbers(zero));
  return [
    toLiteral(
      "int16",
      x.shape,
      Float64Array.from(toNumbers(x), (value) => value - shift),
    ),
  ];
}

/** Evaluates `integer-matmul`: a matrix product of integers, exact in int32. */
export function evaluateIntegerMatmul(_: OperationOf<"integer-matmul">, [x, weights]: Two): One {
  return evaluateMatmul({ kind: "matmul" }, [...evaluateCast({ kind: "cast", to: "int32", saturate: false }, [x]), weights]);
}

/** Evaluates `integer-linear`: an integer matrix product, multiplied by both scales, then the epilogue in float32. */
export function evaluateIntegerLinear(
  operation: OperationOf<"integer-linear">,
  [x, weights, scale, columnScale, ...others]: readonly [...Two, ...Two, ...Literal[]],
): One {
  const sums = evaluateIntegerMatmul({ kind: "integer-matmul" }, [x, weights]);
  const times = { kind: "binary", function: "mul" } as const;
  const scales = evaluateBinary(times, [scale, columnScale]);
  const [product] = evaluateBinary(times, [...evaluateCast({ kind: "cast", to: "float32", saturate: false }, sums), ...scales]);
  return applyEpilogue(operation, product, others);
}
