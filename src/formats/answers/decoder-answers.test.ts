import { describe, expect, it } from "vitest";
import { blockFormats } from "../gguf/blocks/index.ts";
import { scaledBlockName, scaledBlocks } from "../scaled-blocks/block-formats.ts";
import { answerTable } from "./answer-table.ts";
import { findDecoderProblem, requireDecoder } from "./decoder-answers.ts";
import { findEncoderProblem, findPackingProblem } from "./encoder-answers.ts";

const types = ["F32", "F64", "F16", "BF16", "I8", "I16", "I32", "I2_S", "TL1", "TL2", ...Object.keys(blockFormats)];

describe("known answers", () => {
  it("are there for every type that is decoded, and agree with its decoder", () => {
    expect(Object.keys(answerTable.blocks).toSorted()).toEqual(Object.keys(blockFormats).toSorted());
    for (const type of types) expect(findDecoderProblem(type), type).toBeUndefined();
    const shape = { bits: 4, elements: 96, hasMins: true } as const;
    expect(findDecoderProblem(scaledBlockName(shape), scaledBlocks(shape))).toBeUndefined();
    for (const type of types) expect(() => requireDecoder(type), type).not.toThrow();
  });

  it("agree with what encodes and packs weights", () => {
    for (const type of ["Q8_0", "Q4_0", "Q4_K", "TQ2_0", "I2_S", "F16", "F32"] as const)
      expect(findEncoderProblem(type), type).toBeUndefined();
    for (const type of ["int8", "int4"] as const) expect(findPackingProblem(type), type).toBeUndefined();
  });

  it("see a decoder that writes behind its block", () => {
    const format = blockFormats["Q8_0"]!;
    const unpack: typeof format.unpack = (bytes, start, block) => {
      format.unpack(bytes, start, block);
      block.codes[format.elements] = 1;
    };
    expect(findDecoderProblem("Q8_0", { ...format, unpack })).toBe("the decoder of Q8_0 writes behind its block");
  });

  it("see a format that says something else of its blocks", () => {
    const format = { ...blockFormats["Q5_0"]!, smallestCode: -15 };
    expect(findDecoderProblem("Q5_0", format)).toMatch(
      /^blocks of Q5_0 have 32 in 22 bytes, .*from -15, and .*from -16 is right$/,
    );
  });
});
