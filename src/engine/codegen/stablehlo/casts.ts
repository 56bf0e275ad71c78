/** Conversions between element types in StableHLO, as ONNX Cast defines them. */
import { required } from "../../../contract/checked.ts";
import { decodeFloat, isStoredAsBits } from "../../../contract/small-floats.ts";
import { type ElementType, elementTypes, integerRange, isFloat } from "../../ir/element-types.ts";
import type { OperationOf } from "../../ir/operations.ts";
import type { HloFunction, HloValue } from "./hlo-function.ts";
import { UnsupportedInStableHlo } from "./hlo-types.ts";

/** Lowers `cast` to StableHLO. */
export function emitCast(hlo: HloFunction, { to, saturate }: OperationOf<"cast">, [x]: readonly HloValue[]): HloValue {
  return castElements(hlo, required(x, "the operand"), to, saturate);
}

/**
 * Converts elements to another type. Float to float rounds; float to integer truncates. Out-of-range values wrap around, or clamp to the range of the
 * type with `saturate`.
 */
export function castElements(hlo: HloFunction, x: HloValue, to: ElementType, saturate: boolean): HloValue {
  const from = x.type.dataType;
  if (from === to) return x;
  if (to === "bool") return hlo.compare(x, "NE", hlo.scalar(from, 0));
  if (isFloat(to)) return toFloat(hlo, x, to, saturate);
  if (saturate) return hlo.convert(clamped(hlo, x, required(integerRange(to), "the range of an integer type")), to);
  if (!isFloat(from)) return hlo.convert(x, to);
  const isNarrow = elementTypes[to].bits < 32;
  // StableHLO leaves out-of-range floats undefined; converting through a wider integer makes them wrap around.
  const through = to === "int32" || to === "int64" || to === "uint64" ? to : isNarrow ? "int32" : "int64";
  return hlo.convert(hlo.convert(x, through), to);
}

function toFloat(hlo: HloFunction, x: HloValue, to: ElementType, saturate: boolean): HloValue {
  if (!saturate || elementTypes[to].bits !== 8) return hlo.convert(x, to);
  const largest = largestFloat(to);
  const wide = hlo.convert(x, x.type.dataType === "float64" ? "float64" : "float32");
  return hlo.convert(clamped(hlo, wide, [-largest, largest]), to);
}

/** Clamps the elements to the range [low, high]. NaN is preserved. */
function clamped(hlo: HloFunction, x: HloValue, [low, high]: readonly [number, number]): HloValue {
  const { dataType } = x.type;
  const above = hlo.binary("stablehlo.maximum", x, hlo.scalar(dataType, low));
  return hlo.binary("stablehlo.minimum", above, hlo.scalar(dataType, high));
}

/** The largest finite number of an 8-bit float type. */
function largestFloat(type: ElementType): number {
  if (!isStoredAsBits(type)) return Number.MAX_VALUE;
  const all = Array.from({ length: 256 }, (_, bits) => decodeFloat(type, bits));
  return Math.max(...all.filter((value) => Number.isFinite(value)));
}

/** Lowers `bitcast` to StableHLO: the same bits in another type of equal width. */
export function emitBitcast(hlo: HloFunction, { to }: OperationOf<"bitcast">, [x]: readonly HloValue[]): HloValue {
  const operand = required(x, "the operand");
  if (to === "bool" || operand.type.dataType === "bool") throw new UnsupportedInStableHlo("a bitcast of bool");
  return hlo.operation("stablehlo.bitcast_convert", [operand], { dataType: to, shape: operand.type.shape });
}
