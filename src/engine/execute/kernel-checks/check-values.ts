/** Inputs of kernel checks: ordinary numbers, and those that generated code gets wrong first. Deterministic. */
import { elementCount } from "../../../contract/tensor.ts";
import type { ElementType } from "../../ir/element-types.ts";
import { type Literal, toLiteral, literalOfBigints } from "../../ir/literal.ts";

/** Zeros, denormals, values around the ends of exp and tanh, the first that is infinite in float16, large values, infinities and NaN. */
const specialFloats = [
  0,
  -0,
  1,
  -1,
  0.5,
  -2.25,
  3.75,
  1e-40,
  -1e-45,
  1.2e-38,
  1e-7,
  -0.7,
  0.99,
  2.5,
  -3.5,
  9,
  -9.5,
  20,
  -87.4,
  88.6,
  1000.5,
  65520,
  3e38,
  -3e38,
  Infinity,
  -Infinity,
  NaN,
];
const specialIntegers = [0, 1, -1, 7, -8, 100, -128, 127, 255, 256, -32_768, 65_535, 2 ** 31 - 1, -(2 ** 31), 31, 33];

/** A tensor of ordinary numbers: floats between -2 and 2, integers between -20 and 20 (from 0 for unsigned types). */
export function ordinary(dataType: ElementType, shape: readonly number[], seed: number = 1): Literal {
  const values = Array.from({ length: elementCount(shape) }, (_, index) => 2 * Math.sin(1.7 * (index + 1) * seed + seed));
  return literal(dataType, shape, isFloat(dataType) ? values : values.map((value) => Math.trunc(10 * value)));
}

/**
 * `special` without infinities, denormals and values beyond 2000, which some functions are not defined for, or not exact: kernels limit the argument
 * of exp, and reduce angles up to 1e6.
 */
export function moderate(dataType: ElementType, shift: number = 0): Literal {
  if (!isFloat(dataType)) return special(dataType, shift);
  const values = specialFloats.filter(
    (value) => Number.isNaN(value) || value === 0 || (Math.abs(value) > 1e-30 && Math.abs(value) < 2000),
  );
  const length = 23;
  return literal(
    dataType,
    [length],
    Array.from({ length }, (_, index) => values[(index + shift) % values.length] ?? 0),
  );
}

/** Numbers that every integer type represents, with fractions. */
export function castable(dataType: ElementType): Literal {
  return literal(dataType, [11], [0, 1, 2.5, 3.75, 7, 100, 126.99, 127, 0.5, 64, 31]);
}

/** A vector of special values, rotated by `shift`, so that two of them pair the values in different ways. Its length is not a multiple of 4. */
export function special(dataType: ElementType, shift: number = 0): Literal {
  const all = isFloat(dataType) ? specialFloats : specialIntegers;
  const length = specialFloats.length;
  const values = Array.from(
    { length },
    (_, index) => all[(index + shift * (1 + Math.floor(index / all.length))) % all.length] ?? 0,
  );
  return literal(dataType, [length], values);
}

/** Ordinary numbers with NaN, infinities, a denormal and large values in the second row. */
export function withSpecialRow(shape: readonly number[]): Literal {
  const { data } = ordinary("float32", shape);
  const columns = shape.at(-1) ?? 1;
  const values = Array.from(data as Float32Array);
  for (const [index, value] of [NaN, Infinity, 1e-40, -1e30].entries()) values[columns + index * 2] = value;
  return toLiteral("float32", shape, values);
}

/** Indices from -size to size - 1. */
export function checkIndices(shape: readonly number[], size: number, dataType: "int64" | "int32" = "int64"): Literal {
  return literal(
    dataType,
    shape,
    Array.from({ length: elementCount(shape) }, (_, index) => ((index * 5 + 3) % (2 * size)) - size),
  );
}

function literal(dataType: ElementType, shape: readonly number[], values: readonly number[]): Literal {
  if (dataType === "bool")
    return toLiteral(
      dataType,
      shape,
      values.map((value) => (Math.trunc(value) % 2 === 0 ? 0 : 1)),
    );
  return dataType === "int64" || dataType === "uint64"
    ? literalOfBigints(
        dataType,
        shape,
        values.map((value) => BigInt(Math.trunc(value))),
      )
    : toLiteral(dataType, shape, values);
}

function isFloat(dataType: ElementType): boolean {
  return dataType.startsWith("float") || dataType === "bfloat16";
}
