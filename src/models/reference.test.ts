import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { resolveReference } from "./reference.ts";

const root = resolve(import.meta.dirname, "../..");

describe("a reference", () => {
  it.each([
    ["builtin", join(root, "builtin")],
    ["./somewhere", resolve("somewhere")],
    ["../up", resolve("../up")],
    [".", resolve(".")],
    ["~/models/x", join(homedir(), "models/x")],
    ["~", homedir()],
    ["/absolute/model", "/absolute/model"],
    ["src", resolve("src")],
    ["a/b/c", resolve("a/b/c")],
    ["model.onnx", resolve("model.onnx")],
    [pathToFileURL("/a b/model").href, "/a b/model"],
  ])("%s is the path %s, shown as it was written", (reference, path) => {
    expect(resolveReference(reference)).toEqual({ path, shown: reference });
  });

  it.each([
    ["hf:owner/name@main:int8", "MODEL_UNSUPPORTED", /hf download owner\/name --local-dir name/],
    ["https://example.org/model.onnx", "MODEL_UNSUPPORTED", /give its path/],
    ["owner/name", "MODEL_NOT_FOUND", /hf download owner\/name/],
    ["bultin", "MODEL_NOT_FOUND", /did you mean "builtin"/],
    ["gpt", "MODEL_NOT_FOUND", /"builtin" or the path/],
    ["", "MODEL_NOT_FOUND", /"builtin" or the path/],
  ])("%s is refused with %s and what to do", (reference, code, remedy) => {
    expect(() => resolveReference(reference)).toThrow(
      expect.objectContaining({ code, remedy: expect.stringMatching(remedy) as string }) as Error,
    );
  });
});
