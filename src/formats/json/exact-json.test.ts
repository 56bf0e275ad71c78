import fc from "fast-check";
import { expect, test } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import { JsonNumber, isTextOf, jsonText, getKeys, parseExactJson, parseJson } from "./exact-json.ts";

const texts = [
  '{"id":1234567890123456789,"ratio":1.0,"large":1e5,"small":-0.50,"zero":-0}',
  '{"10":"ten","9":"nine","b":{"2":1,"1":2},"a":[{"z":0,"0":1.0}]}',
  '[1.0,[2.50],{"x":[1E5]}]',
  '{"__proto__":{"polluted":1.0},"constructor":{"prototype":{"polluted":2.0}}}',
  String.raw`{"quoted \" \\":"é\n😀","":9007199254740993}`,
  "[]",
  "{}",
  '{"a":[1e400,-1e-400,123456789012345678901234567890.5]}',
];

test.each(texts)("%s is written as it was read, and read as JSON.parse reads it", (text) => {
  const value = parseJson(text);
  expect(value).toEqual(JSON.parse(text));
  expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)));
  expect(jsonText(value)).toBe(text);
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

test("white space and escapes are normalized, and of several members of one name the last one counts", () => {
  expect(jsonText(parseJson(' { "a" : [ 1.0 , "\\u0041\\/" ] ,\n"a":[ 2.0 ] } '))).toBe('{"a":[2.0]}');
  expect(jsonText(parseJson('{"a":1.0,"a":1}'))).toBe('{"a":1}');
  expect(jsonText(parseJson('{"2":0,"1":0,"2":1.0}'))).toBe('{"2":1.0,"1":0}');
});

test("what is attached to members survives a copy of their object, and is not enumerable", () => {
  const value = parseJson('{"schema":{"const":1.0},"temperature":1.0}') as Record<string, unknown>;
  expect(jsonText({ ...value, more: [value["schema"]] })).toBe('{"schema":{"const":1.0},"temperature":1,"more":[{"const":1.0}]}');
  expect(Reflect.ownKeys(structuredClone(value))).toEqual(["schema", "temperature"]);
});

test("other values are written as JSON.stringify writes them, and BigInt as integers", () => {
  const plain = { a: undefined, b: [undefined, () => 1, Number.NaN], c: new Date(0), d: new Map(), e: "\ud800", f: -0, g: null };
  expect(jsonText(plain)).toBe(JSON.stringify(plain));
  expect(jsonText({ const: 12345678901234567890n })).toBe('{"const":12345678901234567890}');
  expect(jsonText(undefined)).toBe("null");
});

test("exact values have numbers that JavaScript would change as JsonNumber", () => {
  const value = parseExactJson('{"b":1.0,"2":3,"1":[4]}') as Record<string, unknown>;
  expect(value["b"]).toEqual(new JsonNumber("1.0"));
  expect(value["2"]).toBe(3);
  expect(getKeys(value)).toEqual(["b", "2", "1"]);
  expect(JSON.stringify(value)).toBe('{"1":[4],"2":3,"b":1}');
});

test("a text stands for a value that JavaScript reads from it, and for no other", () => {
  expect(isTextOf('{"id": 1234567890123456789}', { id: Number("1234567890123456789") })).toBe(true);
  expect(isTextOf('{"id": 1234567890123456789}', { id: 2 })).toBe(false);
  expect(isTextOf("{", {})).toBe(false);
});

test("what is not JSON, or nests too deeply, is an error", () => {
  expect(() => parseJson('{"a":1.0,}')).toThrow(SyntaxError);
  expect(() => parseExactJson("[1.]")).toThrow(SyntaxError);
  expect(parseJson(`${"[".repeat(1000)}1.0${"]".repeat(1000)}`)).toBeInstanceOf(Array);
  expect(() => parseJson(`[${"1.0,".repeat(65_536)}1.0]`)).toThrow(expect.objectContaining({ code: "LIMIT_EXCEEDED" }));
  const keys = Array.from({ length: 65_537 }, (_, index) => `"${index}":1`);
  expect(() => parseJson(`{${keys.join(",")}}`)).toThrow(expect.objectContaining({ code: "LIMIT_EXCEEDED" }));
  expect(parseJson(`[${"1,".repeat(65_536)}1.0]`)).toHaveLength(65_537);
  expect(() => parseJson("[".repeat(1002) + "]".repeat(1002))).toThrow(InferyardError);
});

test("any value of JSON survives, with any white space", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 1, "\t"), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(jsonText(parseJson(text))).toBe(JSON.stringify(JSON.parse(text)));
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
    { numRuns: 200 },
  );
});
