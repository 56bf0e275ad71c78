/** Whisper on every engine: an ONNX export on onnxruntime, in WebAssembly and on the own engine, and safetensors on the own engine. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, pipeline, type Runtime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needsData, sharedData, worst } from "../fixtures/shared-data.ts";
import { sampled } from "../fixtures/slow.ts";
import { whisperFromOnnx } from "./fixtures/whisper-from-onnx.ts";

interface Goldens {
  readonly log_mel: { readonly first_202_frames: Encoded; readonly remaining_frames_constant: number };
  readonly decoder_prefix: readonly number[];
  readonly greedy_raw: {
    readonly generated_ids: readonly number[];
    readonly first_step_logits: Encoded;
    readonly last_step_logits: Encoded;
  };
  readonly transformers_generate: { readonly sequence: readonly number[] };
}
interface Encoded {
  readonly data: string;
}

const exported = `${sharedData}tiny-random-whisper`;
const [skip, name] = needsData("transcribing");

function floats({ data }: Encoded): Float32Array {
  const bytes = Buffer.from(data, "base64");
  return Float32Array.from({ length: bytes.length / 4 }, (_value, index) => bytes.readFloatLE(index * 4));
}

describe.skipIf(skip)(name, () => {
  let runtime: Runtime;
  let folder = "";
  let goldens: Goldens;
  let sound = new Uint8Array();
  beforeAll(async () => {
    runtime = await createRuntime({ host: "inline", threads: 1 });
    folder = mkdtempSync(join(tmpdir(), "inferyard-whisper-"));
    await whisperFromOnnx(exported, folder);
    goldens = JSON.parse(readFileSync(`${exported}/goldens.json`, "utf8")) as Goldens;
    sound = new Uint8Array(readFileSync(`${exported}/chirp-2s.wav`));
  });
  afterAll(async () => {
    await runtime.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  function features(): Float32Array<ArrayBuffer> {
    const { first_202_frames: first, remaining_frames_constant: silence } = goldens.log_mel;
    const all = new Float32Array(80 * 3000).fill(silence);
    const given = floats(first);
    for (let bin = 0; bin < 80; bin += 1) all.set(given.subarray(bin * 202, (bin + 1) * 202), bin * 3000);
    return all;
  }

  const engines = [
    ["onnx:cpu", "the ONNX export", () => exported],
    ["wasm", "the ONNX export", () => exported],
    ["native", "the ONNX export", () => exported],
    ["native", "safetensors", () => folder],
  ] as const;

  it.each(engines)("%s with %s: tokens after a spectrogram have the logits of PyTorch", async (target, _of, model) => {
    const handle = await runtime.load(model(), { kind: "language", target });
    const { language } = handle;
    expect(language.limits).toMatchObject({ hasEncoder: true, features: { bins: 80, frames: 3000 }, vocabulary: 1911 });
    const sequence = await language.createSequence({ features: features() });
    const { generated_ids: wanted, first_step_logits: first, last_step_logits: last } = goldens.greedy_raw;
    const given: number[] = [];
    const all: Float32Array[] = [];
    for (let tokens = goldens.decoder_prefix; given.length < wanted.length; tokens = given.slice(-1)) {
      const [logits = new Float32Array()] = await language.decode([{ sequence, tokens }]);
      all.push(logits);
      given.push(logits.indexOf(logits.reduce((max, each) => Math.max(max, each))));
    }
    expect(given).toEqual(wanted);
    expect(worst(all[0]!, floats(first))).toBeLessThan(1e-4);
    expect(worst(all.at(-1)!, floats(last))).toBeLessThan(1e-4);
    await expect(language.createSequence({ source: [1, 2] })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await language.releaseSequence(sequence);
    await handle.dispose();
  });

  // The logits are those of all engines: what is made of them is one implementation for each kind of files.
  const writes = "%s with %s: writes the tokens that transformers writes";
  const expectTokensOfTransformers = async (target: string, _of: string, model: () => string): Promise<void> => {
    const options = {
      language: "en",
      timestamps: "none",
      temperature: 0,
      maxNewTokens: 12,
      noSpeechThreshold: 2,
      padding: "silence",
    } as const;
    const { segments, language, duration, text } = await runtime.transcribe(sound, { model: model(), target, ...options });
    expect(segments.flatMap(({ tokens }) => tokens)).toEqual(goldens.transformers_generate.sequence.slice(4));
    expect(text).toBe(segments[0]?.text.trim());
    expect({ language, duration, words: segments[0]?.words }).toEqual({ language: "en", duration: 2, words: undefined });
  };
  const isOfSample = ([target, of]: (typeof engines)[number]): boolean => target === "onnx:cpu" || of === "safetensors";
  for (const [skips, title, rows] of sampled(writes, engines, isOfSample))
    it.skipIf(skips).each(rows)(title, async (...row) => await expectTokensOfTransformers(...row));

  it("finds a text with beams that is at least as probable as the one without", async () => {
    const options = { model: exported, target: "onnx:cpu", language: "en", temperature: 0, noSpeechThreshold: 2 } as const;
    const limits = { maxNewTokens: 6, timestamps: "none" } as const;
    const [one, five] = await Promise.all([1, 5].map((beams) => runtime.transcribe(sound, { ...options, ...limits, beams })));
    expect(five!.segments[0]!.averageLogProbability).toBeGreaterThanOrEqual(one!.segments[0]!.averageLogProbability);
    expect(five!.segments[0]!.tokens.length).toBeLessThanOrEqual(6);
  });

  it("streams segments, tells progress, and detects the language", async () => {
    const seen: number[] = [];
    const stream = await runtime.transcribe(sound, {
      model: folder,
      target: "native",
      temperature: 0,
      noSpeechThreshold: 2,
      stream: true,
      onProgress: ({ done, total }) => seen.push(done / total),
    });
    const texts: string[] = [];
    for await (const { text, start, end } of stream) {
      expect(end).toBeGreaterThan(start);
      texts.push(text);
    }
    const { segments, language, languageProbability } = await stream.result;
    expect(segments.map(({ text }) => text)).toEqual(texts);
    expect(["en", "de"]).toContain(language);
    expect(languageProbability).toBeGreaterThan(0.5);
    expect(seen.at(-1)).toBe(1);
  });

  it("gives words their times from safetensors, and says that the export does not", async () => {
    const options = { language: "en", timestamps: "word", temperature: 0, noSpeechThreshold: 2 } as const;
    await expect(runtime.transcribe(sound, { model: exported, target: "onnx", ...options })).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringContaining("cross-attention") as string,
    });
    await expect(runtime.transcribe(sound, { model: folder, target: "native", ...options })).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
      message: expect.stringContaining("alignment_heads") as string,
    });
  });

  it("reads the weights of cross-attention: each token's sum to 1, and do not depend on later tokens", async () => {
    const handle = await runtime.load(folder, { kind: "language", target: "native" });
    const { language } = handle;
    const sequence = await language.createSequence({ features: features() });
    const heads = [
      [0, 1],
      [1, 3],
    ] as const;
    const weights = await language.crossAttention!(sequence, [401, 402, 405, 9, 10], heads);
    expect(weights.length).toBe(2 * 5 * 1500);
    for (let row = 0; row < 10; row += 1) {
      const sum = weights.subarray(row * 1500, (row + 1) * 1500).reduce((total, each) => total + each, 0);
      expect(sum).toBeCloseTo(1, 4);
    }
    const shorter = await language.crossAttention!(sequence, [401, 402, 405], heads);
    expect(worst(shorter.subarray(0, 3 * 1500), weights.subarray(0, 3 * 1500))).toBeLessThan(1e-6);
    await expect(language.crossAttention!(sequence, [401], [[2, 0]])).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await handle.dispose();
  });

  it("refuses what is no sound, unknown languages, wrong options and models of texts", async () => {
    const call = (input: never, options: object) => runtime.transcribe(input, { model: exported, target: "onnx", ...options });
    await expect(call("talk.wav" as never, {})).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(call(new Uint8Array([1, 2, 3]) as never, {})).rejects.toMatchObject({ code: "MEDIA_TYPE_UNSUPPORTED" });
    await expect(call(sound as never, { language: "xx" })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      remedy: "it knows de, en",
    });
    await expect(call(sound as never, { temperature: 2 })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(call(sound as never, { beams: 0 })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(call(sound as never, { model: `${sharedData}tiny-random-bart` })).rejects.toMatchObject({
      code: "MODEL_UNSUPPORTED",
    });
  });

  it("is the pipeline automatic-speech-recognition", async () => {
    const transcriber = await pipeline("automatic-speech-recognition", folder, { target: "native", host: "inline" });
    const samples = new Float32Array(16_000).fill(0.01);
    const { text, chunks } = await transcriber(samples, {
      language: "en",
      temperature: 0,
      noSpeechThreshold: 2,
      return_timestamps: true,
    });
    expect(
      chunks
        ?.map((chunk) => chunk.text)
        .join("")
        .trim(),
    ).toBe(text);
    await transcriber.dispose();
  });
});
