import fc from "fast-check";
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

  it("orders any two versions the way it orders their swapped pair", () => {
    const version = fc.array(fc.nat(999), { minLength: 1, maxLength: 4 }).map((parts) => parts.join("."));
    fc.assert(fc.property(version, version, (a, b) => compareVersions(a, b) + compareVersions(b, a) === 0));
  });

  it.each(["", "new", "12.", "v12", "12.x"])("refuses %j with something to do", (text) => {
    expect(() => compareVersions(text, "1")).toThrow(
      expect.objectContaining({ code: "INPUT_INVALID", remedy: expect.any(String) }),
    );
  });
});
