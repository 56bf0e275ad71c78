/** Conversions between element types, as ONNX Cast defines them. */
import { type ElementType, integerRange, isFloat, isBigIntType } from "../ir/element-types.ts";
import { toBigints, type Literal, toLiteral, literalOfBigints, toNumbers, toStrings, zeroLiteral } from "../ir/literal.ts";
import type { One } from "./operands.ts";
import type { OperationOf } from "../ir/operations.ts";
import { encodeFloat, isStoredAsBits } from "../../contract/small-floats.ts";

/**
 * Evaluates `cast`: rounds floats to the target type, truncates and wraps integers, or saturates them if `saturate` is set; parses and formats
 * strings.
 */
export function evaluateCast({ to, saturate }: OperationOf<"cast">, [x]: One): One {
  if (x.dataType === to) return [x];
  if (to === "string") return [{ dataType: "string", shape: x.shape, data: formatNumbers(x) }];
  if (x.dataType === "string") return [parseStrings(x, to, saturate)];
  if (isBigIntType(to) && isBigIntType(x.dataType)) return [literalOfBigints(to, x.shape, Array.from(toBigints(x)))];
  return [castNumbers(toNumbers(x), x.shape, to, saturate)];
}

function castNumbers(values: ArrayLike<number>, shape: readonly number[], to: ElementType, saturate: boolean): Literal {
  if (isStoredAsBits(to)) {
    const literal = zeroLiteral(to, shape);
    const codes = literal.data as Uint8Array;
    for (let index = 0; index < values.length; index += 1) codes[index] = encodeFloat(to, values[index] as number, saturate);
    return literal;
  }
  const range = saturate ? integerRange(to) : undefined;
  if (range === undefined) return toLiteral(to, shape, values);
  return toLiteral(
    to,
    shape,
    Float64Array.from(values, (value) => Math.max(range[0], Math.min(range[1], value))),
  );
}

/** Numbers as strings, as ONNX Cast requires: up to 17 digits for float64 and 9 for smaller types, "INF" and "NaN". */
function formatNumbers(x: Literal): readonly string[] {
  if (isBigIntType(x.dataType)) return Array.from(toBigints(x), String);
  const digits = x.dataType === "float64" ? 17 : 9;
  return Array.from(toNumbers(x), (value) => {
    if (Number.isNaN(value)) return "NaN";
    if (!Number.isFinite(value)) return value > 0 ? "INF" : "-INF";
    return isFloat(x.dataType) ? String(Number(value.toPrecision(digits))) : String(value);
  });
}

/** Numbers parsed from strings. Throws for what is not a number. */
function parseStrings(x: Literal, to: ElementType, saturate: boolean): Literal {
  const values = toStrings(x).map((text) => {
    const bare = text.trim();
    if (/^[+-]?inf(?:inity)?$/i.test(bare)) return bare.startsWith("-") ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    if (/^[+-]?nan$/i.test(bare)) return Number.NaN;
    const value = Number(bare);
    if (bare === "" || Number.isNaN(value)) throw new Error(`"${text.slice(0, 40)}" is not a number`);
    return value;
  });
  if (isBigIntType(to) && toStrings(x).every((text) => /^[+-]?\d+$/.test(text.trim()))) {
    return literalOfBigints(
      to,
      x.shape,
      toStrings(x).map((text) => BigInt(text.trim().replace(/^\+/, ""))),
    );
  }
  return castNumbers(values, x.shape, to, saturate);
}

/** Evaluates `bitcast`: the same bytes read as another element type of equal width. */
export function evaluateBitcast({ to }: OperationOf<"bitcast">, [x]: One): readonly Literal[] {
  const literal = zeroLiteral(to, x.shape);
  const from = x.data as Uint8Array;
  const into = literal.data as Uint8Array;
  if (from.byteLength !== into.byteLength) throw new Error(`${x.dataType} and ${to} have different widths`);
  const bytes = new Uint8Array(from.buffer, from.byteOffset, from.byteLength);
  new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(bytes);
  return [literal];
}
