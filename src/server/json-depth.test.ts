import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { refuseDeep } from "./json-depth.ts";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe("refuseDeep", () => {
  it("refuses exactly what nests deeper than it may, whatever the strings hold", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 6 }), (value, limit) => {
        const refuse = (): void => refuseDeep(JSON.stringify(value), limit);
        if (depthOf(value) > limit) expect(refuse).toThrow(/nests deeper/);
        else expect(refuse).not.toThrow();
      }),
    );
  });

  it("is quick on what was written to be slow", () => {
    expect(() => refuseDeep(`"${"\\".repeat(1_000_000)}`, 3)).not.toThrow();
    expect(() => refuseDeep(`"${'\\"'.repeat(1_000_000)}`, 3)).not.toThrow();
  });
});
