import { describe, expect, it } from "vitest";
import { at, omitUndefined, required } from "./checked.ts";

describe("at", () => {
  it("gives the element, zero and false included", () => {
    expect([at([7, 8], 1), at(new Float32Array([0]), 0), at([false], 0)]).toEqual([8, 0, false]);
  });

  it.each([[2], [-1], [0.5], [Number.NaN]])("throws for the index %s of a list of two", (index) => {
    expect(() => at(["a", "b"], index)).toThrow(new RangeError(`a list of 2 elements has none at index ${index}`));
  });
});

describe("required", () => {
  it("gives the value, zero and the empty text included", () => {
    expect([required(0, "count"), required("", "name"), required(null, "parent")]).toEqual([0, "", null]);
  });

  it("names what is missing", () => {
    expect(() => required(new Map<string, number>().get("w"), "the buffer of w")).toThrow(
      new TypeError("the buffer of w is missing"),
    );
  });
});

describe("omitUndefined", () => {
  it("leaves out fields that are undefined, and no others", () => {
    const fields = { a: undefined, b: null, c: 0, d: "", e: false };
    expect(Object.keys(omitUndefined(fields))).toEqual(["b", "c", "d", "e"]);
  });
});
