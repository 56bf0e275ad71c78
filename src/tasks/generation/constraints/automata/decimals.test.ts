import fc from "fast-check";
import { expect, test } from "vitest";
import { compareDecimals, decimalDigits, parseDecimal, isWhole } from "./decimals.ts";

test("equal numbers have one notation", () => {
  const same = ["100", "1e2", "100.0", "1.00E+2", "0.1e3", "1000e-1"];
  expect(new Set(same.map(parseDecimal))).toEqual(new Set(["100"]));
  expect(["-0", "0.0", "0e5"].map(parseDecimal)).toEqual(["0", "0", "0"]);
  expect(parseDecimal("1234567890123456789.50")).toBe("12345678901234567895e-1");
  expect([parseDecimal("1e30"), parseDecimal("-1.5e-7")]).toEqual(["1e30", "-15e-8"]);
  expect([isWhole(parseDecimal("1.0")), isWhole(parseDecimal("1.5"))]).toEqual([true, false]);
});

test("digits stand before and behind the point", () => {
  expect(decimalDigits("1e3")).toEqual({ whole: "1000", fraction: "" });
  expect(decimalDigits("-15e-8")).toEqual({ whole: "0", fraction: "00000015" });
  expect(decimalDigits("-12.50")).toEqual({ whole: "12", fraction: "5" });
});

test("decimals compare as doubles do where these are exact, and beyond", () => {
  expect(compareDecimals("9007199254740993", "9007199254740992")).toBe(1);
  expect(compareDecimals("-1e3", "-1.5e2")).toBe(-1);
  fc.assert(
    fc.property(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      (one, other) => {
        expect(compareDecimals(parseDecimal(String(one)), parseDecimal(String(other)))).toBe(
          one < other ? -1 : one > other ? 1 : 0,
        );
        expect(Number(parseDecimal(String(one)))).toBe(one + 0);
      },
    ),
  );
});
