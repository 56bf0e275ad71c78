/** The order of the codes of I2_S tensors: what the file states, what its shapes allow, and what is asked for. */
import { describe, expect, it } from "vitest";
import type { GgufValue } from "../gguf-metadata.ts";
import { chooseI2SLayout, i2sLayoutKey, possibleI2SLayouts } from "./i2s-layout.ts";
import type { GgufModel, GgufModelTensor } from "./read-model.ts";

/** A model with I2_S tensors of these shapes, the innermost dimension first. */
function modelOf(shapes: readonly (readonly number[])[], stated?: string): GgufModel {
  const tensors = shapes.map((shape, index): readonly [string, GgufModelTensor] => {
    const elements = shape.reduce((product, size) => product * size, 1);
    const name = `blk.${index}.ffn_up.weight`;
    return [name, { name, type: "I2_S", shape, elements, bytes: elements / 4 + 32, start: 0, path: "model.gguf" }];
  });
  const value: GgufValue = { type: "string", value: stated ?? "", bytes: 0 };
  return {
    architecture: "bitnet-b1.58",
    metadata: new Map(stated === undefined ? [] : [[i2sLayoutKey, value]]),
    tensors: new Map(tensors),
    paths: ["model.gguf"],
    bytes: 0,
  };
}

describe("the layout of I2_S", () => {
  it.each([
    [[[128, 4]], ["x86", "x86-interleaved", "arm"]],
    [[[128, 3]], ["x86", "arm"]],
    [[[64, 1]], ["arm"]],
    [[[12, 4]], ["x86-interleaved"]],
    [
      [
        [128, 3],
        [64, 4],
        [64, 3],
      ],
      ["arm"],
    ],
    [[], []],
  ])("of matrices %j may be %j", (shapes, expected) => {
    expect(possibleI2SLayouts(modelOf(shapes))).toEqual(expected);
  });

  it("needs no question where one is left, or is stated", () => {
    expect(chooseI2SLayout(modelOf([[64, 1]]), undefined)).toMatchObject({
      layout: "arm",
      sentence: expect.stringContaining("no other fits the shapes"),
    });
    expect(chooseI2SLayout(modelOf([[128, 4]], "arm"), undefined)).toMatchObject({
      layout: "arm",
      sentence: expect.stringContaining("the file states it"),
    });
    expect(chooseI2SLayout(modelOf([]), "arm")).toBeUndefined();
  });

  it("is what is asked for, else that of x86, and says so", () => {
    const model = modelOf([[128, 4]]);
    expect(chooseI2SLayout(model, "x86-interleaved")).toMatchObject({
      layout: "x86-interleaved",
      sentence: expect.stringContaining("i2sLayout asks for it"),
    });
    expect(chooseI2SLayout(model, undefined)).toMatchObject({
      layout: "x86",
      sentence: expect.stringContaining("which the file does not state"),
    });
  });

  it("is refused where the shapes or the file rule it out", () => {
    const refused = (part: string): object => ({ code: "MODEL_UNSUPPORTED", message: expect.stringContaining(part) });
    const errorOf = (run: () => unknown): unknown => {
      try {
        return run();
      } catch (error) {
        return error;
      }
    };
    expect(errorOf(() => chooseI2SLayout(modelOf([[64, 1]]), "x86"))).toMatchObject(
      refused("the shapes of its tensors allow arm"),
    );
    expect(errorOf(() => chooseI2SLayout(modelOf([[128, 4]], "x86"), "arm"))).toMatchObject(refused("the file states x86"));
    expect(errorOf(() => chooseI2SLayout(modelOf([[12, 3]]), undefined))).toMatchObject(refused("fit none"));
    expect(errorOf(() => chooseI2SLayout(modelOf([[128, 4]], "mips"), undefined))).toMatchObject({ code: "MODEL_INVALID" });
  });
});
