import { describe, expect, it } from "vitest";
import { scrub } from "./scrub.ts";

describe("scrub", () => {
  it.each([
    ["/models/a/config.json cannot be read", "config.json cannot be read"],
    ["cannot open '/home/a b/c d/model.onnx'", "cannot open 'model.onnx'"],
    ["ENOENT:/x/y", "ENOENT:y"],
    ["in (/x/y/z.so)", "in (z.so)"],
    [String.raw`at C:\Users\a\m.onnx now`, "at m.onnx now"],
    ["see file:///opt/x/y.mjs", "see y.mjs"],
  ])("leaves of a path its last part: %s", (words, left) => expect(scrub(words)).toBe(left));

  it.each([
    "GET /v1/models lists those there are",
    "hf:owner/name is not in the store",
    "https://example.org/a/b could not be fetched",
    "3/4 of the texts, and/or more",
    "there is no file or folder ./nothing",
    "the tensor has 1 / 2 elements",
  ])("leaves everything else as it is: %s", (words) => expect(scrub(words)).toBe(words));
});
