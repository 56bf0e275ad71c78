import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareVersions } from "./versions.ts";

describe("compareVersions", () => {
  it.each([
    ["12.10", "12.8", 1],
    ["12.8", "12.10", -1],
    ["13", "13.0", 0],
    ["580.159.03", "580.95.05", 1],
    ["9.0", "10.0", -1],
    ["1.30.0-rc.1", "1.30.0", 0],
  ])("puts %s against %s as numbers", (a, b, expected) => {
    expect(compareVersions(a, b)).toBe(expected);
  });

  it("puts a version with any part raised above it, in both directions", () => {
    const numbers = fc.array(fc.nat(999), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(numbers, fc.nat(3), (parts, place) => {
        const raised = parts.with(place % parts.length, (parts[place % parts.length] ?? 0) + 1);
        expect(compareVersions(raised.join("."), parts.join("."))).toBe(1);
        expect(compareVersions(parts.join("."), raised.join("."))).toBe(-1);
      }),
    );
  });

  it.each(["", "new", "12.", "v12", "12.x"])("refuses %j with something to do", (text) => {
    expect(() => compareVersions(text, "1")).toThrow(
      expect.objectContaining({ code: "INPUT_INVALID", remedy: expect.any(String) }),
    );
  });
});
