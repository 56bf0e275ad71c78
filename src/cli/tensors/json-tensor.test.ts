import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { DataType } from "../../contract/tensor.ts";
import { jsonOfTensor, tensorOfJson } from "./json-tensor.ts";

const read = (json: unknown, dataType: DataType): ReturnType<typeof tensorOfJson> => tensorOfJson(json, { name: "x", dataType });

describe("nested arrays to a tensor", () => {
  it.each<[unknown, DataType, readonly number[], unknown]>([
    [[[1, 2.5]], "float32", [1, 2], Float32Array.of(1, 2.5)],
    [7, "int32", [], Int32Array.of(7)],
    [[], "int8", [0], new Int8Array()],
    [[[], []], "uint8", [2, 0], new Uint8Array()],
    [["a", ""], "string", [2], ["a", ""]],
    [[true, 0, 1], "bool", [3], Uint8Array.of(1, 0, 1)],
    [[-1, "9007199254740993"], "int64", [2], BigInt64Array.of(-1n, 9_007_199_254_740_993n)],
    [["18446744073709551615"], "uint64", [1], BigUint64Array.of(2n ** 64n - 1n)],
    [["NaN", "-Infinity", 1], "float16", [3], Uint16Array.of(0x7e00, 0xfc00, 0x3c00)],
    [[0.1], "float64", [1], Float64Array.of(0.1)],
  ])("%j as %s", (json, dataType, shape, data) => {
    expect(read(json, dataType)).toEqual({ dataType, shape, data });
  });

  it.each<[unknown, DataType, RegExp]>([
    [[[1, 2], [3]], "float32", /input "x" is ragged: 1 values at \[1\], and 2 values/],
    [[[1], 2], "float32", /ragged: a single value at \[1\], and 1 values/],
    [[1, [2]], "float32", /ragged: 1 values at \[1\], and a single value/],
    [[[], [1]], "float32", /ragged/],
    [[["a"], { length: 1 }], "string", /ragged/],
    [[1, null], "float32", /holds null at \[1\], which is no float32/],
    [{}, "float32", /holds \{\}, which is no float32/],
    [["1"], "float32", /holds "1" at \[0\], which is no float32/],
    [[[0, 1.5]], "int32", /holds 1.5 at \[0\]\[1\], which is no int32/],
    [[128], "int8", /128/],
    [[-1], "uint16", /-1/],
    [[2], "bool", /2/],
    [[1e39], "float32", /1e\+39/],
    [[65_520], "float16", /65520/],
    [[9_007_199_254_740_992], "int64", /no int64/],
    [["9223372036854775808"], "int64", /no int64/],
    [["-1"], "uint64", /no uint64/],
    [["0x10"], "int64", /no int64/],
    [["NaN"], "int32", /no int32/],
    [[1], "string", /no string/],
    [[1], "bfloat16", /no bfloat16/],
  ])("%j is not %s", (json, dataType, message) => {
    expect(() => read(json, dataType)).toThrow(message);
    expect(() => read(json, dataType)).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
  });

  it("nesting without end is refused, and not the end of the stack", () => {
    expect(() => read(JSON.parse(`${"[".repeat(5000)}${"]".repeat(5000)}`), "float32")).toThrow(/nested too deep/);
  });

  it("a number too large for JSON says what to write instead", () => {
    expect(() => read([2 ** 60], "int64")).toThrow(expect.objectContaining({ remedy: expect.stringContaining("as strings") }));
  });
});

describe("a tensor to JSON", () => {
  it("has whole numbers beyond 2^53 and what is no number as strings, and floats in few digits", () => {
    expect(jsonOfTensor({ dataType: "int64", shape: [2], data: BigInt64Array.of(5n, 2n ** 60n) }).data).toEqual([
      5,
      "1152921504606846976",
    ]);
    expect(jsonOfTensor({ dataType: "float32", shape: [3], data: Float32Array.of(0.1, Number.NaN, -Infinity) }).data).toEqual([
      0.1,
      "NaN",
      "-Infinity",
    ]);
    expect(jsonOfTensor({ dataType: "float16", shape: [1], data: Uint16Array.of(0x3c00) }).data).toEqual([1]);
    expect(jsonOfTensor({ dataType: "bfloat16", shape: [2], data: Uint16Array.of(0x3fc0, 0xff80) }).data).toEqual([
      1.5,
      "-Infinity",
    ]);
    expect(jsonOfTensor({ dataType: "bool", shape: [2], data: Uint8Array.of(0, 1) })).toEqual({
      dtype: "bool",
      shape: [2],
      data: [false, true],
    });
  });

  it("reads back as it was", () => {
    fc.assert(
      fc.property(fc.float32Array(), (data) => {
        const { data: json } = jsonOfTensor({ dataType: "float32", shape: [data.length], data });
        expect(read(JSON.parse(JSON.stringify(json)), "float32").data).toEqual(data.map((value) => (value === 0 ? 0 : value)));
      }),
    );
    fc.assert(
      fc.property(fc.bigInt64Array(), (data) => {
        const { data: json } = jsonOfTensor({ dataType: "int64", shape: [data.length], data });
        expect(read(JSON.parse(JSON.stringify(json)), "int64").data).toEqual(data);
      }),
    );
  });
});
