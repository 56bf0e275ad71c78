/** KServe's protocol over models of pictures and sound: their tensors in and out, as JSON and as binary data, beside the answers of PyTorch and of onnxruntime. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "inferyard";
import { type Handler, createHandler } from "inferyard/server";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { writeVoiceDetector } from "../fixtures/models/sound-models.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

type Numbers = Float32Array | Uint16Array | BigInt64Array;

interface Given {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly data: Numbers;
}

const [skip, title] = needsData("KServe: models of pictures and sound");
describe.skipIf(skip)(title, () => {
  const folder = mkdtempSync(join(tmpdir(), "inferyard-kserve-media-"));
  const squeezeNet = `${sharedData}vision/SqueezeNet_fp16.onnx`;
  let runtime: Awaited<ReturnType<typeof createRuntime>>;
  let handler: Handler;
  beforeAll(async () => {
    writeVoiceDetector(join(folder, "voice.onnx"));
    runtime = await createRuntime({ host: "inline", threads: 1 });
    const models = {
      vit: `${sharedData}tiny-random-vit`,
      squeeze: squeezeNet,
      encoder: `${sharedData}tiny-random-whisper/onnx/encoder_model.onnx`,
      voice: join(folder, "voice.onnx"),
    };
    handler = createHandler(runtime, { models });
  });
  afterAll(async () => {
    await runtime.dispose();
    rmSync(folder, { recursive: true });
  });

  interface Head {
    readonly outputs: readonly {
      readonly name: string;
      readonly shape: number[];
      readonly data?: number[];
      readonly parameters?: { readonly binary_data_size: number };
    }[];
  }

  async function infer(model: string, body: Buffer | string, headers: Record<string, string>): Promise<Response> {
    const bytes = typeof body === "string" ? body : new Uint8Array(body);
    const response = await handler(
      new Request(`http://localhost/v2/models/${model}/infer`, { method: "POST", headers, body: bytes }),
    );
    expect([response.status, response.status === 200 ? "" : await response.text()]).toEqual([200, ""]);
    return response;
  }

  /** The outputs as bytes, by name, of inputs that are sent as binary data. */
  async function inferBinary(model: string, given: readonly Given[]): Promise<Map<string, { shape: number[]; bytes: Buffer }>> {
    const parts = given.map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength));
    const inputs = given.map(({ data: _data, ...rest }, index) => ({
      ...rest,
      parameters: { binary_data_size: parts[index]!.length },
    }));
    const head = Buffer.from(JSON.stringify({ inputs, parameters: { binary_data_output: true } }));
    const headers = { "inference-header-content-length": String(head.length), "content-type": "application/octet-stream" };
    const response = await infer(model, Buffer.concat([head, ...parts]), headers);
    const body = Buffer.from(await response.arrayBuffer());
    let at = Number(response.headers.get("inference-header-content-length"));
    const { outputs } = JSON.parse(body.subarray(0, at).toString()) as Head;
    return new Map(
      outputs.map(({ name, shape, parameters }) => {
        const bytes = body.subarray(at, (at += parameters!.binary_data_size));
        return [name, { shape, bytes }];
      }),
    );
  }

  /** The outputs of inputs that are sent as JSON, by name. */
  async function inferJson(model: string, given: readonly Given[]): Promise<Map<string, number[]>> {
    const inputs = given.map(({ data, ...rest }) => ({ ...rest, data: Array.from(data, Number) }));
    const response = await infer(model, JSON.stringify({ inputs }), { "content-type": "application/json" });
    return new Map(((await response.json()) as Head).outputs.map(({ name, data = [] }) => [name, data]));
  }

  const floats = (bytes: Buffer): number[] => [...new Float32Array(Uint8Array.from(bytes).buffer)];

  function expectNear(values: readonly number[], expected: readonly number[], difference: number): void {
    expect(values.length).toBe(expected.length);
    expect(Math.max(...values.map((value, index) => Math.abs(value - expected[index]!)))).toBeLessThan(difference);
  }

  const decoded = ({ data }: { readonly data: string }): Float32Array =>
    new Float32Array(Uint8Array.from(Buffer.from(data, "base64")).buffer);

  it("a ViT gives the logits of PyTorch for pixel values", async () => {
    const { items } = JSON.parse(readFileSync(`${sharedData}tiny-random-vit/goldens.json`, "utf8")) as {
      items: { pixel_values: { shape: number[]; data: string }; logits: number[] }[];
    };
    for (const { pixel_values: pixels, logits } of items) {
      const input = { name: "pixel_values", datatype: "FP32", shape: [1, ...pixels.shape], data: decoded(pixels) };
      const found = await inferBinary("vit", [input]);
      expect(found.get("logits")!.shape).toEqual([1, 5]);
      expectNear(floats(found.get("logits")!.bytes), logits, 1e-4);
      expectNear((await inferJson("vit", [input])).get("logits")!, logits, 1e-4);
    }
  });

  it("Whisper's encoder, named by its file, gives the hidden states of PyTorch for log-mel features", async () => {
    const golden = JSON.parse(readFileSync(`${sharedData}tiny-random-whisper/goldens.json`, "utf8")) as {
      log_mel: { shape: [bands: number, frames: number]; first_202_frames: { data: string } };
      encoder_last_hidden_state_first_4_frames: { data: string };
    };
    // The sound lasts two seconds: all later frames are silent, and have the smallest value.
    const [bands, frames] = golden.log_mel.shape;
    const first = decoded(golden.log_mel.first_202_frames);
    const data = new Float32Array(bands * frames).fill(Math.min(...first));
    for (let band = 0; band < bands; band++) data.set(first.subarray(band * 202, (band + 1) * 202), band * frames);
    const found = await inferBinary("encoder", [{ name: "input_features", datatype: "FP32", shape: [1, bands, frames], data }]);
    const [output] = found.values();
    const expected = decoded(golden.encoder_last_hidden_state_first_4_frames);
    expectNear(floats(output!.bytes.subarray(0, 4 * expected.length)), [...expected], 1e-3);
  });

  it("SqueezeNet takes and gives half floats as binary data, with the bits of onnxruntime", async () => {
    const data = Uint16Array.from({ length: 3 * 224 * 224 }, (_, index) => (index * 7) % 0x3c00); // halves from 0 to 1
    const input = { name: "data_0", datatype: "FP16", shape: [1, 3, 224, 224], data };
    const session = await InferenceSession.create(squeezeNet, { intraOpNumThreads: 1, graphOptimizationLevel: "all" });
    const own = await session.run({ data_0: new Tensor("float16", data, input.shape) });
    await session.release();
    const { shape, bytes } = (await inferBinary("squeeze", [input])).get("softmaxout_1")!;
    expect(shape).toEqual([1, 1000, 1, 1]);
    const halves = [...new Uint16Array(Uint8Array.from(bytes).buffer)];
    const expected = own["softmaxout_1"]!.data as unknown as Uint16Array;
    const best = (scores: ArrayLike<number>): number[] =>
      Array.from(scores, (score, index) => [score, index] as const)
        .toSorted(([a], [b]) => b - a)
        .slice(0, 5)
        .map(([, index]) => index);
    expect(best(halves)).toEqual(best(new Uint16Array(expected.buffer, expected.byteOffset, 1000)));
  });

  it("a network with a scalar input and a state, as Silero's, is run window by window", async () => {
    let state: Numbers = new Float32Array(256).map((_, index) => index);
    for (const loudness of [0.25, 0.75]) {
      const inputs: Given[] = [
        { name: "input", datatype: "FP32", shape: [1, 576], data: new Float32Array(576).fill(-loudness) },
        { name: "state", datatype: "FP32", shape: [2, 1, 128], data: state },
        { name: "sr", datatype: "INT64", shape: [], data: BigInt64Array.of(16_000n) },
      ];
      const found = await inferBinary("voice", inputs);
      expect(floats(found.get("output")!.bytes)).toEqual([loudness]);
      expect((await inferJson("voice", inputs)).get("output")).toEqual([loudness]);
      state = Float32Array.from(floats(found.get("stateN")!.bytes));
    }
    expect(state[255]).toBe(255);
  });
});
