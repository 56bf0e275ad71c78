import { expect, it } from "vitest";
import { halfValue } from "./float16.ts";
import { encodeFloat16 } from "./encode-float16.ts";

it("every float16 has its own bits, and what lies between two is the nearer one, or the even one of two as near", () => {
  const wrong: number[] = [];
  const check = (value: number, bits: number): void => {
    if (encodeFloat16(value) !== bits || encodeFloat16(-value) !== (bits | 0x8000)) wrong.push(value);
  };
  for (let bits = 0; bits < 0x7c00; bits += 1) {
    const value = halfValue(bits);
    const next = bits === 0x7bff ? 65_536 : halfValue(bits + 1);
    check(value, bits);
    check((value + next) / 2, bits % 2 === 0 ? bits : bits + 1);
    check(value + (next - value) * 0.49, bits);
    check(value + (next - value) * 0.51, bits + 1);
  }
  expect(wrong).toEqual([]);
  expect(encodeFloat16(Number.POSITIVE_INFINITY)).toBe(0x7c00);
  expect(encodeFloat16(-1e300)).toBe(0xfc00);
  expect(halfValue(encodeFloat16(Number.NaN))).toBeNaN();
});
