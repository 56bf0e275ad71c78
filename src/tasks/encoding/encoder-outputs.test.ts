import { describe, expect, it } from "vitest";
import type { Pooling, TextSettings } from "../../models/manifest.ts";
import type { DataType, Tensor, TensorInfo } from "../../contract/tensor.ts";
import { toFloat32 } from "../../contract/to-float32.ts";
import { type OutputSources, vectorOutput } from "./encoder-outputs.ts";

const sentence: TensorInfo = { name: "sentence_embedding", dataType: "float32", shape: ["batch", 4] };
const tokens: TensorInfo = { name: "last_hidden_state", dataType: "float32", shape: ["batch", "sequence", 4] };
const pooler: TensorInfo = { name: "pooler_output", dataType: "float32", shape: ["batch", 4] };
const oddTokens: TensorInfo = { name: "output_0", dataType: "float32", shape: ["batch", "sequence", 4] };
/** A model with the own pooling `own`, whose config.json states these fields. */
const manifestOf = (own: Pooling | undefined, config: Readonly<Record<string, unknown>> = {}): OutputSources["manifest"] => ({
  text: { ...({} as TextSettings), ...(own === undefined ? {} : { pooling: own }) },
  variants: [{ name: "fp32", aliases: [], format: "onnx", path: "", bytes: 0, config }],
});
const choice = (outputs: readonly TensorInfo[], pooling?: Pooling, own?: Pooling, config = {}): string => {
  const { name, level } = vectorOutput({ outputs, manifest: manifestOf(own, config) }, pooling);
  return `${name} ${level}`;
};

describe("which output holds the vectors", () => {
  it("a graph that pools by itself knows best", () => {
    expect(choice([tokens, sentence])).toBe("sentence_embedding sentence");
    expect(choice([tokens, sentence], "mean", "mean")).toBe("sentence_embedding sentence");
  });

  it("a pooling other than the model's own needs the token vectors", () => {
    expect(choice([tokens, sentence], "cls", "mean")).toBe("last_hidden_state token");
    expect(choice([tokens, sentence], "mean")).toBe("last_hidden_state token");
    expect(() => choice([sentence], "cls", "mean")).toThrow('pooling "cls" needs token vectors');
  });

  it("token vectors go by their name, not by their place, and a pooler's output is never taken for them", () => {
    expect(choice([oddTokens, pooler, tokens])).toBe("last_hidden_state token");
    expect(choice([pooler, oddTokens])).toBe("output_0 token");
  });

  it("a model without any is refused, and what it gives is named", () => {
    const logits: TensorInfo = { name: "logits", dataType: "float32", shape: ["batch", 2] };
    expect(() => choice([logits])).toThrow("no output of this model holds embeddings; it has logits [batch, 2]");
  });

  it.each(["logits", "prediction_logits", "lm_logits"])("what a head returns is never an embedding: %s", (output) => {
    const ofHead: TensorInfo = { name: output, dataType: "float32", shape: ["batch", "sequence", 400] };
    expect(() => choice([ofHead], "mean")).toThrow(`no output of this model holds embeddings; it has ${output}`);
    expect(choice([ofHead, oddTokens], "mean")).toBe("output_0 token");
  });

  it("an output that is as long as the vocabulary is that of a head, whatever its name", () => {
    expect(() => choice([oddTokens], "mean", undefined, { vocab_size: 4, hidden_size: 32 })).toThrow("it has output_0");
    expect(choice([oddTokens], "mean", undefined, { vocab_size: 4, hidden_size: 4 })).toBe("output_0 token");
  });
});

const tensor = (dataType: DataType, data: Tensor["data"]): Tensor => ({ dataType, shape: [data.length], data });

describe("values as float32", () => {
  it("float16: values of IEEE 754-2019, table 3.5, and its extremes", () => {
    const bits = [0x3c00, 0xc000, 0x7bff, 0x0400, 0x0001, 0x03ff, 0x3555, 0x8000, 0x7c00, 0xfc00];
    const expected = [1, -2, 65504, 2 ** -14, 2 ** -24, 1023 * 2 ** -24, 0.333251953125, -0, Infinity, -Infinity];
    expect([...toFloat32(tensor("float16", Uint16Array.from(bits)))]).toEqual(expected);
    expect(toFloat32(tensor("float16", Uint16Array.of(0x7e00)))[0]).toBeNaN();
  });

  it("bfloat16: the upper half of a float32", () => {
    const bits = [0x3f80, 0xc000, 0x4049, 0x8000, 0x7f80, 0xff80, 0x0001];
    const expected = [1, -2, 3.140625, -0, Infinity, -Infinity, 2 ** -133];
    expect([...toFloat32(tensor("bfloat16", Uint16Array.from(bits)))]).toEqual(expected);
    expect(toFloat32(tensor("bfloat16", Uint16Array.of(0x7fc0)))[0]).toBeNaN();
  });

  it("float64 is rounded, float32 is left alone", () => {
    expect([...toFloat32(tensor("float64", Float64Array.of(0.1)))]).toEqual([Math.fround(0.1)]);
    const data = Float32Array.of(1, 2);
    expect(toFloat32(tensor("float32", data))).toBe(data);
  });

  it("whole numbers are not embeddings", () => {
    expect(() => toFloat32(tensor("int64", BigInt64Array.of(1n)))).toThrow("the model gives int64");
    expect(() => toFloat32(tensor("uint16", Uint16Array.of(1)))).toThrow("the model gives uint16");
  });
});
