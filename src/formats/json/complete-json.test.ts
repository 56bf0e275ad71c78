import fc from "fast-check";
import { expect, test } from "vitest";
import { completedObject, parseObject } from "./complete-json.ts";

test.each([
  ['{"path": "/data', '{"path": "/data"}'],
  ['{"path": "a\\', '{"path": "a"}'],
  ['{"path": "a\\u00e', '{"path": "a"}'],
  ['{"a": 1, "b', '{"a": 1}'],
  ['{"a": 1, "b": ', '{"a": 1}'],
  ['{"a": 1.0, "b": 12', '{"a": 1.0}'],
  ['{"a": true', '{"a": true}'],
  ['{"a": tru', "{}"],
  ['{"a": [1, {"b": "c"}, [', '{"a": [1, {"b": "c"}, []]}'],
  [" {", " {}"],
  ['{"a": 1}', '{"a": 1}'],
])("%s is completed", (cut, whole) => {
  expect(completedObject(cut)).toBe(whole);
});

test.each(["", "text", "[1", '"a', '{"a": foo}', '{"a" 1', "{]", '{"a":1} and more', "}", "{a", '{"a": foo'])(
  "%s is no beginning of an object",
  (text) => {
    expect(completedObject(text)).toBeUndefined();
  },
);

test("objects are read as they are, and what is no object as an empty one", () => {
  expect(['{"a":1}', '{"a":1,"b', "[1]", "text"].map(parseObject)).toEqual([{ a: 1 }, { a: 1 }, {}, {}]);
});

test("any beginning of an object is completed to an object, and a deep one in one pass", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(), fc.constantFrom(0, 1), (value, length, indent) => {
      const text = JSON.stringify(value, null, indent);
      const cut = text.slice(0, 1 + (length % text.length));
      expect(JSON.parse(completedObject(cut) ?? "")).toBeTypeOf("object");
    }),
    { numRuns: 300 },
  );
  expect(completedObject(`{"a":${"[".repeat(5000)}`)).toHaveLength(10_006);
});
