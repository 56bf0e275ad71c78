import { describe, expect, it } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { TensorInfo } from "../../contract/tensor.ts";
import { probeInputs } from "./probe-inputs.ts";
import { runProbe } from "./verification.ts";

const info = (name: string, shape: TensorInfo["shape"], dataType: TensorInfo["dataType"] = "int64"): TensorInfo => ({
  name,
  shape,
  dataType,
});

describe("the probe input of a model that names none", () => {
  it("fills an encoder's inputs: zeros as ids, ones as mask", () => {
    const inputs = probeInputs([
      info("input_ids", ["batch_size", "sequence_length"]),
      info("attention_mask", ["a", "b"]),
      info("token_type_ids", ["", ""]),
    ]);
    expect(inputs?.["input_ids"]).toEqual({ dataType: "int64", shape: [1, 8], data: new BigInt64Array(8) });
    expect(inputs?.["attention_mask"]?.data).toEqual(new BigInt64Array(8).fill(1n));
    expect(inputs?.["token_type_ids"]?.shape).toEqual([1, 8]);
  });
  it("fills int32 and float masks too", () => {
    expect(probeInputs([info("attention_mask", ["n", "s"], "int32")])?.["attention_mask"]?.data).toEqual(
      new Int32Array(8).fill(1),
    );
    expect(probeInputs([info("attention_mask", [1, 2], "float32")])?.["attention_mask"]?.data).toEqual(new Float32Array([1, 1]));
  });
  it("takes fixed sizes as they are, and free ones by their usual names", () => {
    expect(probeInputs([info("pixels", ["batch", 3, 4], "float32"), info("audio", [1, "max_length"], "float32")])).toMatchObject({
      pixels: { shape: [1, 3, 4] },
      audio: { shape: [1, 8] },
    });
    expect(probeInputs([info("words", [2], "string")])?.["words"]?.data).toEqual(["", ""]);
  });
  it("lets a decoder begin: it has no past, and its mask covers what is asked alone", () => {
    const inputs = probeInputs([
      info("input_ids", ["batch_size", "sequence_length"]),
      info("attention_mask", ["batch_size", "past_sequence_length + 1"]),
      info("past_key_values.0.key", ["batch_size", 4, "past_sequence_length", 16], "float32"),
    ]);
    expect(inputs).toMatchObject({ input_ids: { shape: [1, 8] }, attention_mask: { shape: [1, 8] } });
    expect(inputs?.["past_key_values.0.key"]).toEqual({ dataType: "float32", shape: [1, 4, 0, 16], data: new Float32Array() });
  });
  it("gives a model of sound a tenth of a second", () => {
    expect(probeInputs([info("input_values", ["batch_size", "sequence_length"], "float32")])).toMatchObject({
      input_values: { shape: [1, 1600] },
    });
  });
  it("ones in place of zeros are ones in every type", () => {
    const ones = probeInputs([info("a", [2], "float16"), info("b", [1], "uint16"), info("c", [1]), info("d", [1], "string")], {
      fill: 1,
    });
    expect(ones?.["a"]?.data).toEqual(Uint16Array.of(0x3c00, 0x3c00));
    expect(ones?.["b"]?.data).toEqual(Uint16Array.of(1));
    expect(ones?.["c"]?.data).toEqual(BigInt64Array.of(1n));
    expect(ones?.["d"]?.data).toEqual([""]);
  });
  it.each([[[2 ** 40]], [[2 ** 20, 2 ** 20]], [[2 ** 26, 2]], [[2 ** 53, 2 ** 53]]])(
    "refuses to make one of the shape %j",
    (shape) => {
      expect(() => probeInputs([info("x", shape, "float32")])).toThrow(expect.objectContaining({ code: "MODEL_UNSUPPORTED" }));
      expect(() => probeInputs([info("a", [4]), info("b", shape, "string")])).toThrow(/input "b" has the shape/);
    },
  );
  it("makes none where a free size says nothing, since a sound model could refuse it", () => {
    expect(probeInputs([info("pixels", ["batch", 3, "height", "width"], "float32")])).toBeUndefined();
    expect(probeInputs([info("scalar or anything", [], "float32")])).toBeUndefined();
  });
  it("takes no size from what stands for no name: -1 as onnxruntime-web gives it, and exporters' words", () => {
    for (const size of [2 ** 32 - 1, -1, "?", "None", "unk__12"])
      expect(probeInputs([info("x", [1, size], "float32")])).toBeUndefined();
  });
});

describe("a probe whose length is guessed", () => {
  const manifest = { probe: undefined } as unknown as Manifest;
  const model = (accepts: (length: number) => void, value = 1): Parameters<typeof runProbe>[0] => ({
    inputs: [info("input", ["batch", "sequence"], "float32")],
    outputs: [info("y", [1], "float32")],
    async run({ input }) {
      accepts(input?.shape[1] ?? 0);
      return { y: { dataType: "float32", shape: [1], data: Float32Array.of(value) } };
    },
  });
  const refuse = (code: "RUN_FAILED" | "MODEL_UNSUPPORTED" | "OUT_OF_MEMORY") => (): never => {
    throw new InferyardError(code, "Pad reflect: post-pad (64) exceeds maximum allowed (7)");
  };

  it("is repeated with longer inputs until the model accepts one", async () => {
    const lengths: number[] = [];
    const ran = await runProbe(
      model((length) => {
        lengths.push(length);
        if (length < 512) refuse("RUN_FAILED")();
      }),
      manifest,
    );
    expect(ran).toBe("a probe input ran, and its output is finite");
    expect(lengths).toEqual([8, 8, 512]);
  });
  it.each(["RUN_FAILED", "MODEL_UNSUPPORTED"] as const)("proves nothing when every length is refused with %s", async (code) => {
    expect(await runProbe(model(refuse(code)), manifest)).toMatch(
      /^no probe ran: no shape is known; .* 8, 512, 576, 16000: Pad reflect/,
    );
  });
  it("still fails for outputs that are not finite, and for other errors", async () => {
    const nothing = (): void => {};
    await expect(runProbe(model(nothing, Number.NaN), manifest)).rejects.toMatchObject({ code: "VERIFICATION_FAILED" });
    await expect(runProbe(model(refuse("OUT_OF_MEMORY")), manifest)).rejects.toMatchObject({ code: "OUT_OF_MEMORY" });
  });
  it("is none for token ids: their refusal is the model's", async () => {
    const tokens = { ...model(refuse("MODEL_UNSUPPORTED")), inputs: [info("input_ids", ["batch", "sequence"])] };
    await expect(runProbe(tokens, manifest)).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
  });
});
