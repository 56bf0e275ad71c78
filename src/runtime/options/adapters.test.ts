import { describe, expect, it } from "vitest";
import { parseAdapter, checkAdapters } from "./adapters.ts";

describe("adapters", () => {
  it("are written as PATH or PATH=SCALE", () => {
    expect(parseAdapter("a.gguf")).toEqual({ path: "a.gguf" });
    expect(parseAdapter("a.gguf=0.5")).toEqual({ path: "a.gguf", scale: 0.5 });
    expect(parseAdapter("runs/lr=1e-4/a.gguf=-2")).toEqual({ path: "runs/lr=1e-4/a.gguf", scale: -2 });
    expect(parseAdapter("runs/lr=1e-4/a.gguf")).toEqual({ path: "runs/lr=1e-4/a.gguf" });
  });

  it.each([
    [[]],
    ["a.gguf"],
    [["a.gguf"]],
    [[{}]],
    [[{ path: "" }]],
    [[{ path: "a", scale: Number.NaN }]],
    [[{ path: "a", weight: 1 }]],
  ])("%j is refused", (value) => expect(() => checkAdapters(value)).toThrow(expect.objectContaining({ code: "INPUT_INVALID" })));

  it("lists of paths and scales are accepted", () => {
    expect(() => checkAdapters([{ path: "a.gguf" }, { path: "b.gguf", scale: -0.5 }])).not.toThrow();
    expect(() => checkAdapters(undefined)).not.toThrow();
  });
});
