/** Models that label sound, on every engine: wav2vec2's CTC against the answers of PyTorch, and a classifier whose scores are known. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, pipeline, type Runtime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import * as write from "../fixtures/models/onnx-bytes.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const engines = ["onnx:cpu", "wasm", "native"] as const;

let runtime: Runtime;
beforeAll(async () => {
  runtime = await createRuntime({ host: "inline", threads: 1 });
});
afterAll(() => runtime.dispose());

const [skip, name] = needsData("transcribing by CTC");
describe.skipIf(skip)(name, () => {
  const model = `${sharedData}tiny-random-wav2vec2-ctc`;
  const sound = (): Uint8Array => new Uint8Array(readFileSync(`${model}/chirp-1s.wav`));
  const golden = (): { text: string; argmax_ids: number[] } =>
    JSON.parse(readFileSync(`${model}/goldens.json`, "utf8")) as { text: string; argmax_ids: number[] };

  it.each(engines)("%s: the text and its tokens are those of PyTorch", async (target) => {
    const { text, argmax_ids: ids } = golden();
    const result = await runtime.transcribe(sound(), { model, target, timestamps: "word" });
    expect(result.text).toBe(text);
    const collapsed = ids.filter((id, index) => id !== ids[index - 1] && id !== 4);
    expect(result.segments.flatMap(({ tokens }) => tokens)).toEqual(collapsed);
    expect(result).toMatchObject({
      language: "und",
      languageProbability: 0,
      duration: 1,
      target: target === "onnx:cpu" ? target : `${target}:cpu`,
    });
    const words = result.segments.flatMap((segment) => segment.words ?? []);
    expect(words.map(({ word }) => word)).toEqual(text.split(" ").map((word) => ` ${word}`));
    // The delimiter is the most probable token of frame 18: a frame is 20 ms.
    expect([words[0]!.end, words[1]!.start]).toEqual([0.36, 0.38]);
  });

  it("segments are streamed, and progress is told", async () => {
    const progress: number[] = [];
    const stream = await runtime.transcribe(sound(), {
      model,
      stream: true,
      language: "en",
      onProgress: ({ done }) => progress.push(done),
    });
    const segments = [];
    for await (const segment of stream) segments.push(segment.text);
    expect(segments).toEqual([` ${golden().text}`]);
    expect(progress).toEqual([1]);
    expect(await stream.finish()).toMatchObject({ language: "en", languageProbability: 1 });
  });

  it("a sound of more than half a minute is read in windows that overlap", async () => {
    const samples = Float32Array.from({ length: 16_000 * 45 }, (_, index) => Math.sin(index * index * 1e-7));
    const progress: number[] = [];
    const { segments, duration } = await runtime.transcribe(
      { sampleRate: 16_000, samples },
      { model, target: "onnx:cpu", timestamps: "word", onProgress: ({ done }) => progress.push(done) },
    );
    expect([progress, duration]).toEqual([[25, 45], 45]);
    const starts = segments.flatMap(({ words = [] }) => words.map(({ start }) => start));
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
  });

  it("a sound that is shorter than a frame has no words", async () => {
    for (const length of [1, 160, 399]) {
      const sound = { sampleRate: 16_000, samples: new Float32Array(length) };
      expect(await runtime.transcribe(sound, { model, target: "onnx:cpu" })).toMatchObject({ text: "", segments: [] });
    }
  });

  it("options of Whisper's decoder are refused", async () => {
    await expect(runtime.transcribe(sound(), { model, bestOf: 3 })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  it("the pipeline has the shape of transformers.js", async () => {
    const transcriber = await pipeline("automatic-speech-recognition", model, { host: "inline", threads: 1 });
    const { text, chunks } = await transcriber(sound(), { return_timestamps: "word" });
    await transcriber.dispose();
    expect([text, chunks![0]!.timestamp]).toEqual([golden().text, [0, 0.36]]);
  });

  it("a model of CTC is none for voice activity", async () => {
    await expect(runtime.detectSpeech(sound(), { model })).rejects.toMatchObject({ code: "MODEL_UNSUPPORTED" });
  });
});

describe("audio-classification", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "inferyard-sound-"));
    // logits = mean of the samples * [4, 0, -4] + [0, 0.5, 0]
    const graph = [
      write.node({ operator: "ReduceMean", inputs: ["input_values", "axes"], outputs: ["mean"] }),
      write.node({ operator: "Mul", inputs: ["mean", "weights"], outputs: ["product"] }),
      write.node({ operator: "Add", inputs: ["product", "bias"], outputs: ["logits"] }),
      write.tensorOf("axes", "int64", [1], BigInt64Array.of(1n)),
      write.tensorOf("weights", "float32", [1, 3], Float32Array.of(4, 0, -4)),
      write.tensorOf("bias", "float32", [1, 3], Float32Array.of(0, 0.5, 0)),
      write.value(11, "input_values", 1, ["batch", "length"]),
      write.value(12, "logits", 1, ["batch", 3]),
    ];
    writeFileSync(join(folder, "model.onnx"), write.model({ opsets: { "": 18 }, graph }));
    const config = {
      architectures: ["Wav2Vec2ForSequenceClassification"],
      model_type: "wav2vec2",
      id2label: { 0: "up", 1: "none", 2: "down" },
    };
    writeFileSync(join(folder, "config.json"), JSON.stringify(config));
    const extractor = { feature_extractor_type: "Wav2Vec2FeatureExtractor", do_normalize: false, sampling_rate: 8000 };
    writeFileSync(join(folder, "preprocessor_config.json"), JSON.stringify(extractor));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const constant = (value: number, sampleRate: number) => ({ sampleRate, samples: new Float32Array(sampleRate).fill(value) });

  test.each(engines)("%s: labels have the softmax of the logits, best first", async (target) => {
    const { results } = await runtime.classifySound([constant(0.5, 8000), constant(-0.5, 8000)], { model: folder, target });
    const sum = Math.exp(2) + Math.exp(0.5) + Math.exp(-2);
    expect(results.map((labels) => labels.map(({ label }) => label))).toEqual([
      ["up", "none", "down"],
      ["down", "none", "up"],
    ]);
    expect(results[0]!.map(({ score }) => score * sum)).toEqual(
      [2, 0.5, -2].map((logit) => expect.closeTo(Math.exp(logit), 4) as number),
    );
  });

  test("the sound is resampled to the model's rate; topK and activation are obeyed", async () => {
    const request = { model: folder, target: "native", topK: 1, activation: "none" } as const;
    const { results } = await runtime.classifySound(constant(0.5, 16_000), request);
    expect(results).toEqual([[{ label: "up", score: expect.closeTo(2, 2) as number }]]);
  });

  test("a model that labels sound is recognized as such", async () => {
    expect((await runtime.manifest(folder)).tasks).toEqual(["audio-classification"]);
  });

  test("a sound that is too long, and what is no sound, are refused", async () => {
    const long = { sampleRate: 8000, samples: new Float32Array(8000 * 301) };
    await expect(runtime.classifySound(long, { model: folder })).rejects.toMatchObject({ code: "INPUT_TOO_LONG" });
    await expect(runtime.classifySound(new Uint8Array(50), { model: folder })).rejects.toMatchObject({
      code: "MEDIA_TYPE_UNSUPPORTED",
    });
    const broken = { sampleRate: 8000, samples: Float32Array.of(0, Number.NaN) };
    await expect(runtime.classifySound(broken, { model: folder })).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  test("the pipeline takes one sound or several", async () => {
    const classifier = await pipeline("audio-classification", folder, { host: "inline", threads: 1 });
    const one = await classifier({ sampleRate: 8000, samples: new Float32Array(100) });
    const several = await classifier([constant(0.5, 8000), constant(-0.5, 8000)], { topK: 1 });
    await classifier.dispose();
    expect(one[0]!.label).toBe("none");
    expect(several.map(([best]) => best!.label)).toEqual(["up", "down"]);
  });
});
