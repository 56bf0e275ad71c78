import fc from "fast-check";
import { expect, it } from "vitest";
import { nearestName } from "./nearest-name.ts";

it.each([
  ["bultin", ["builtin", "native"], "builtin"],
  ["BuiltIn", ["builtin"], "builtin"],
  ["poolng", ["pooling", "prompts"], "pooling"],
  ["onxn", ["onnx", "wasm"], "onnx"],
  ["fpt16", ["fp32", "fp16"], "fp16"],
  ["cat", ["dog", "bird"], undefined],
  ["x", [], undefined],
])("for %j among %j it is %j", (name, candidates, expected) => {
  expect(nearestName(name, candidates)).toBe(expected);
});

it("finds a name after any single edit", () => {
  const names = ["builtin", "normalize", "defaultPrompt", "requirements"];
  const slip = fc.tuple(fc.constantFrom(...names), fc.nat(), fc.constantFrom("drop", "double", "swap", "change"));
  const property = fc.property(slip, ([name, seed, kind]) => {
    const at = seed % (name.length - 1);
    const [before, first, second, after] = [name.slice(0, at), name.charAt(at), name.charAt(at + 1), name.slice(at + 2)];
    const slipped = {
      drop: before + second + after,
      double: before + first + first + second + after,
      swap: before + second + first + after,
      change: `${before}#${second}${after}`,
    };
    expect(nearestName(slipped[kind], names)).toBe(name);
  });
  fc.assert(property);
});
