/** Lowers operations on quantized tensors to StableHLO. */
import { required } from "../../../contract/checked.ts";
import type { OperationOf } from "../../ir/operations.ts";
import { castElements } from "./casts.ts";
import type { HloFunction, HloValue } from "./hlo-function.ts";
import { epilogue, lowerMatmulToHlo } from "./products.ts";

/** Lowers `quantization-range` to StableHLO: scale and zero point of ONNX DynamicQuantizeLinear. */
export function emitQuantizationRange(
  hlo: HloFunction,
  _: OperationOf<"quantization-range">,
  [x]: readonly HloValue[],
): readonly HloValue[] {
  const data = required(x, "the operand");
  const axes = [...data.type.shape.keys()];
  const zero = hlo.scalar("float32", 0);
  const extreme = (name: string): HloValue => {
    const [found] = hlo.reduce([data], [zero], axes, (inner, [a, b]) => [inner.binary(name, required(a, "a"), required(b, "b"))]);
    return required(found, "the extreme");
  };
  const [low, high] = [extreme("stablehlo.minimum"), extreme("stablehlo.maximum")];
  const width = hlo.binary("stablehlo.subtract", high, low);
  const part = hlo.binary("stablehlo.divide", width, hlo.scalar("float32", 255));
  const scale = hlo.select(hlo.compare(width, "EQ", zero), hlo.scalar("float32", 1), part);
  const shift = hlo.binary("stablehlo.subtract", zero, hlo.binary("stablehlo.divide", low, scale));
  return [scale, castElements(hlo, hlo.unary("stablehlo.round_nearest_even", shift), "uint8", true)];
}

/** Lowers `quantize` to StableHLO: an 8-bit activation with its zero point subtracted, as int16. */
export function emitQuantize(hlo: HloFunction, _: OperationOf<"quantize">, [x, scale, zero]: readonly HloValue[]): HloValue {
  const data = required(x, "the operand");
  const step = hlo.reshape(required(scale, "the scale"), []);
  const shift = hlo.convert(hlo.reshape(required(zero, "the zero point"), []), data.type.dataType);
  const number = (value: number): HloValue => hlo.scalar(data.type.dataType, value);
  const quanta = hlo.unary("stablehlo.round_nearest_even", hlo.binary("stablehlo.divide", data, step));
  const above = hlo.binary("stablehlo.maximum", hlo.binary("stablehlo.add", quanta, shift), number(0));
  return hlo.convert(hlo.binary("stablehlo.subtract", hlo.binary("stablehlo.minimum", above, number(255)), shift), "int16");
}

/** Lowers `subtract-zero-point` to StableHLO: x as int16, minus its zero point if it has one. */
export function emitSubtractZeroPoint(
  hlo: HloFunction,
  _: OperationOf<"subtract-zero-point">,
  [x, zero]: readonly HloValue[],
): HloValue {
  const wide = hlo.convert(required(x, "the operand"), "int16");
  return zero === undefined ? wide : hlo.binary("stablehlo.subtract", wide, hlo.convert(hlo.reshape(zero, []), "int16"));
}

/** Lowers `integer-matmul` to StableHLO: the exact product of int16 and int32 matrices, in int32. */
export function emitIntegerMatmul(
  hlo: HloFunction,
  _: OperationOf<"integer-matmul">,
  [x, weights]: readonly HloValue[],
): HloValue {
  return lowerMatmulToHlo(hlo, hlo.convert(required(x, "the operand"), "int32"), required(weights, "the weights"));
}

/** Lowers `integer-linear` to StableHLO: the integer product times both scales, then the epilogue in float32. */
export function emitIntegerLinear(
  hlo: HloFunction,
  operation: OperationOf<"integer-linear">,
  inputs: readonly HloValue[],
): HloValue {
  const [x, weights, scale, columnScale, ...others] = inputs;
  const operands = [required(x, "the operand"), required(weights, "the weights")];
  const sums = hlo.convert(emitIntegerMatmul(hlo, { kind: "integer-matmul" }, operands), "float32");
  const scales = hlo.binary("stablehlo.multiply", required(scale, "the scale"), required(columnScale, "the columns' scales"));
  return epilogue(hlo, operation, hlo.binary("stablehlo.multiply", sums, scales), others);
}
