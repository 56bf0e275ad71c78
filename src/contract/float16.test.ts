import { expect, it } from "vitest";
import { decodeFloat16, encodeFloat16 } from "./float16.ts";

it("encodes every float16 as its own bits, and rounds values between two to the nearest, ties to even", () => {
  const wrong: number[] = [];
  const check = (value: number, bits: number): void => {
    if (encodeFloat16(value) !== bits || encodeFloat16(-value) !== (bits | 0x8000)) wrong.push(value);
  };
  for (let bits = 0; bits < 0x7c00; bits += 1) {
    const value = decodeFloat16(bits);
    const next = bits === 0x7bff ? 65_536 : decodeFloat16(bits + 1);
    check(value, bits);
    check((value + next) / 2, bits % 2 === 0 ? bits : bits + 1);
    check(value + (next - value) * 0.49, bits);
    check(value + (next - value) * 0.51, bits + 1);
  }
  expect(wrong).toEqual([]);
  expect(encodeFloat16(Number.POSITIVE_INFINITY)).toBe(0x7c00);
  expect(encodeFloat16(-1e300)).toBe(0xfc00);
  expect(decodeFloat16(encodeFloat16(Number.NaN))).toBeNaN();
});

it("has the bit patterns of IEEE 754 binary16", () => {
  // 1, -2, the largest, the smallest normal, the smallest subnormal, 1 + 2^-10, and 0.
  const values = [1, -2, 65_504, 2 ** -14, 2 ** -24, 1 + 2 ** -10, 0];
  expect(values.map(encodeFloat16)).toEqual([0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x3c01, 0]);
});
