import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { countJsonValues } from "./json-limits.ts";

const none = { depth: Number.POSITIVE_INFINITY, values: Number.POSITIVE_INFINITY, structures: Number.POSITIVE_INFINITY };
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

function valuesOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1;
  return Object.values(value).reduce<number>((sum, item) => sum + valuesOf(item), 1);
}

function structuresOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const members = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((sum, item) => sum + structuresOf(item), 1 + members);
}

const notRefused = /^$/;

/** The message it throws; empty where it throws nothing. */
function refusalOf(work: () => unknown): string {
  try {
    work();
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

describe("countJsonValues", () => {
  it("counts what the parser makes, whatever strings and white space hold", () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), fc.constantFrom(0, 1, "\t"), (value, indent) => {
        expect(countJsonValues(bytesOf(JSON.stringify(value, null, indent)), none)).toBe(valuesOf(value));
      }),
    );
  });

  it("refuses exactly what nests deeper, or has more values, than it may", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 0, max: 6 }), (value, limit) => {
        const bytes = bytesOf(JSON.stringify(value));
        const deep = (): number => countJsonValues(bytes, { ...none, depth: limit });
        expect(refusalOf(deep)).toMatch(depthOf(value) > limit ? /nests deeper/ : notRefused);
        const many = (): number => countJsonValues(bytes, { ...none, values: limit });
        // With a limit of 0 a lone value may be taken or refused.
        const fits = limit > 0 ? notRefused : /^/;
        expect(refusalOf(many)).toMatch(valuesOf(value) > Math.max(limit, 1) ? /more than \d+ values/ : fits);
        const complex = (): number => countJsonValues(bytes, { ...none, structures: limit });
        expect(refusalOf(complex)).toMatch(
          structuresOf(value) > limit ? /more than \d+ arrays, objects and members/ : notRefused,
        );
      }),
    );
  });

  it("leaves what is no JSON to the parser, however it was written to be slow", () => {
    for (const text of [`"${"\\".repeat(1_000_000)}`, `"${'\\"'.repeat(1_000_000)}`, "", "]]]]", "\\".repeat(100_000)])
      expect(() => countJsonValues(bytesOf(text), { depth: 3, values: 10, structures: 10 })).not.toThrow();
  });
});
