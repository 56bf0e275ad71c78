import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Target, type TargetPattern, deviceWords, formatPattern, formatTarget, matches, parseTarget } from "./target.ts";

const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,11}$/);
const backendName = word.filter((name) => !deviceWords.has(name));
/** Spellings from other tools are read as ours, so they do not come back as they were. */
const deviceType = word.filter((name) => !["auto", "gpu", "dml"].includes(name));
const index = fc.nat({ max: 9999 });

describe("the grammar of targets", () => {
  it("whatever is written canonically is read back as it was", () => {
    const patterns = fc.oneof(
      fc.record({ backend: backendName }),
      fc.record({ backend: backendName, deviceType }),
      fc.record({ backend: backendName, deviceType, index }),
    );
    fc.assert(
      fc.property(patterns, (pattern: TargetPattern) => {
        expect(parseTarget(formatPattern(pattern))).toEqual(pattern);
      }),
    );
  });

  it("a target's own name means that target", () => {
    fc.assert(
      fc.property(backendName, deviceType, index, (backend, type, number) => {
        const target: Target = { backend, device: { type, index: number } };
        expect(matches(parseTarget(formatTarget(target)), target)).toBe(true);
        expect(matches(parseTarget(`x${formatTarget(target)}`), target)).toBe(false);
      }),
    );
  });

  it.each([
    ["onnx", { backend: "onnx" }],
    ["onnx:auto", { backend: "onnx" }],
    ["onnx:cpu", { backend: "onnx", deviceType: "cpu" }],
    ["onnx:cuda:1", { backend: "onnx", deviceType: "cuda", index: 1 }],
    [" ONNX:CUDA:0 ", { backend: "onnx", deviceType: "cuda", index: 0 }],
    ["onnx:gpu", { backend: "onnx", deviceType: "cuda" }],
    ["*:cuda", { backend: "*", deviceType: "cuda" }],
    ["*:gpu:1", { backend: "*", deviceType: "cuda", index: 1 }],
    ["onnx:dml:2", { backend: "onnx", deviceType: "directml", index: 2 }],
  ])("%s", (text, pattern) => expect(parseTarget(text)).toEqual(pattern));

  it("a device of any backend", () => {
    const on = (backend: string, type: string): boolean =>
      matches(parseTarget("*:cuda"), { backend, device: { type, index: 0 } });
    expect([on("onnx", "cuda"), on("xla", "cuda"), on("onnx", "cpu")]).toEqual([true, true, false]);
  });

  it.each([
    "*",
    "*:auto",
    "",
    ":",
    "onnx:",
    "onnx::1",
    "onnx:cuda:",
    "onnx:cuda:x",
    "onnx:cuda:-1",
    "onnx:cuda:1:2",
    "1onnx",
    "on nx",
    "onnx/cpu",
  ])("%j is refused with an example", (text) => {
    expect(() => parseTarget(text)).toThrow(
      expect.objectContaining({ code: "INPUT_INVALID", remedy: expect.stringContaining("onnx:cuda:1"), data: { target: text } }),
    );
  });

  it.each([
    ["cuda", "did you mean onnx:cuda?"],
    ["gpu", "did you mean onnx:cuda?"],
  ])("%j, a device without its backend, is refused with what was probably meant", (text, remedy) => {
    expect(() => parseTarget(text)).toThrow(expect.objectContaining({ code: "INPUT_INVALID", remedy }));
  });

  it("a number without a type of device is refused with what was probably meant", () => {
    expect(() => parseTarget("onnx:auto:1")).toThrow(
      expect.objectContaining({ code: "INPUT_INVALID", remedy: "did you mean onnx:cuda:1?" }),
    );
  });

  it("what a pattern leaves out matches anything, and the first device of its type goes without a number", () => {
    const second: Target = { backend: "onnx", device: { type: "cuda", index: 1 } };
    expect(["onnx", "onnx:cuda", "onnx:cuda:1"].map((text) => matches(parseTarget(text), second))).toEqual([true, true, true]);
    expect(["wasm", "onnx:cpu", "onnx:cuda:0"].map((text) => matches(parseTarget(text), second))).toEqual([false, false, false]);
    expect(formatTarget(second)).toBe("onnx:cuda:1");
    expect(formatTarget({ backend: "onnx", device: { type: "cuda", index: 0 } })).toBe("onnx:cuda");
  });
});
