import { expect, it } from "vitest";
import { decodeFloat, decodeFloats, type SmallFloatType } from "./small-floats.ts";

it.each<[SmallFloatType, number]>([
  ["float16", 16],
  ["bfloat16", 16],
  ["float8e4m3fn", 8],
  ["float8e5m2fnuz", 8],
  ["float8e8m0", 8],
])("decodes all patterns of %s at once as one by one", (type, bits) => {
  const patterns = Uint16Array.from({ length: 2 ** bits }, (_, pattern) => pattern);
  expect(decodeFloats(type, patterns)).toEqual(Float32Array.from(patterns, (pattern) => decodeFloat(type, pattern)));
});
