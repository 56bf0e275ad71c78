/** Transcribing sound that comes in chunks. */
import { readFileSync } from "node:fs";
import { createRuntime, type Runtime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inferyard } from "../fixtures/processes/command-line.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";

const model = `${sharedData}tiny-random-whisper`;
const [skip, name] = needsData("transcribing chunks");

describe.skipIf(skip)(name, () => {
  let runtime: Runtime;
  let file = new Uint8Array();
  /** 16-bit samples of the file, at 16 kHz. */
  let pcm = new Uint8Array();
  beforeAll(async () => {
    runtime = await createRuntime({ host: "inline", threads: 1 });
    file = new Uint8Array(readFileSync(`${model}/chirp-2s.wav`));
    pcm = file.subarray(44);
  });
  afterAll(() => runtime.dispose());

  // The model has random weights: its text is kept at any probability, and is not drawn.
  const options = { model, target: "onnx:cpu", language: "en", temperature: 0, noSpeechThreshold: 2, maxNewTokens: 8 } as const;
  const flags = ["--model", model, "--target", "onnx:cpu", "--language", "en", "--temperature", "0", "--silence-threshold", "2"];

  async function* split(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
  }

  async function* toSamples(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Float32Array> {
    for await (const chunk of chunks) yield Float32Array.from(new Int16Array(chunk.slice().buffer), (each) => each / 0x8000);
  }

  it("hears in chunks what it hears in the file", async () => {
    const whole = await runtime.transcribe(file, options);
    const inBytes = { sampleRate: 16_000, chunks: split(pcm, 1001) };
    const inSamples = { sampleRate: 16_000, chunks: toSamples(split(pcm, 1000)) };
    for (const sound of [inBytes, inSamples]) {
      const { text, segments, duration, language } = await runtime.transcribe(sound, options);
      expect({ text, segments, duration, language }).toEqual({
        text: whole.text,
        segments: whole.segments,
        duration: 2,
        language: "en",
      });
    }
  });

  it("reads a chunk when a window needs it, gives segments before the sound ends, and tells the source when it is left", async () => {
    let [asked, isClosed] = [0, false];
    async function* endless(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          asked += 1;
          yield pcm;
        }
      } finally {
        isClosed = true;
      }
    }
    const stream = await runtime.transcribe({ sampleRate: 16_000, chunks: endless() }, { ...options, stream: true });
    for await (const segment of stream) {
      expect(segment.isProvisional).toBeUndefined();
      expect(asked).toBe(16); // 30 s and the samples that the last frame needs
      break;
    }
    expect(isClosed).toBe(true);
  });

  it("gives provisional text while no more sound is there, which is not in the transcript", async () => {
    let goOn = (): void => undefined;
    async function* slow(): AsyncGenerator<Uint8Array> {
      yield pcm;
      await new Promise<void>((resolve) => (goOn = resolve));
      yield pcm;
    }
    const sound = { sampleRate: 16_000, chunks: slow() };
    const stream = await runtime.transcribe(sound, { ...options, stream: true, provisionalSeconds: 1 });
    const seen: object[] = [];
    for await (const { isProvisional = false, start, end } of stream) {
      seen.push({ isProvisional, start, end });
      goOn();
    }
    expect(seen[0]).toEqual({ isProvisional: true, start: 0, end: 2 });
    expect(seen.at(-1)).toMatchObject({ isProvisional: false });
    const { segments, duration } = await stream.result;
    expect(segments.every(({ isProvisional }) => isProvisional === undefined)).toBe(true);
    expect(duration).toBe(4);
  });

  it("ends at once when it is aborted, though no chunk comes", async () => {
    const controller = new AbortController();
    const never = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<IteratorResult<Uint8Array>>(() => undefined) }) };
    const call = runtime.transcribe({ sampleRate: 16_000, chunks: never }, { ...options, signal: controller.signal });
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "ABORTED" });
  });

  it("passes on what the source throws, and refuses other chunks and options", async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield pcm;
      throw new Error("the microphone is gone");
    }
    async function* of(chunk: unknown): AsyncGenerator<never> {
      yield chunk as never;
    }
    const call = (sound: object, more: object = {}) => runtime.transcribe(sound as never, { ...options, ...more });
    await expect(call({ sampleRate: 16_000, chunks: broken() })).rejects.toThrow("the microphone is gone");
    for (const chunk of ["text", [0.5], new Int16Array(2), Float32Array.of(Number.NaN)])
      await expect(call({ sampleRate: 16_000, chunks: of(chunk) })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    const chunks = of(new Uint8Array());
    await expect(call({ sampleRate: 0.5, chunks })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(call({ sampleRate: 16_000, chunks: [pcm] })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(call({ sampleRate: 16_000, chunks }, { pauseSeconds: 1 })).rejects.toMatchObject({
      message: expect.stringContaining("voice activity") as string,
    });
    await expect(call({ sampleRate: 16_000, chunks }, { provisionalSeconds: 0 })).rejects.toMatchObject({
      code: "INPUT_INVALID",
    });
    await expect(call(file, { provisionalSeconds: 1 })).rejects.toMatchObject({
      message: expect.stringContaining("whole sound") as string,
    });
    expect(await call({ sampleRate: 16_000, chunks })).toMatchObject({ text: "", segments: [], duration: 0 });
  });

  it("the command reads raw samples and WAVE files from stdin while they come in", async () => {
    const own = ["transcribe", "-", ...flags, "--max-new-tokens", "8", "--quiet"];
    const [fromFile, raw, live] = [
      await inferyard(own, { stdin: file }),
      await inferyard([...own, "--sample-rate", "16000"], { stdin: pcm }),
      await inferyard([...own, "--live"], { stdin: file }),
    ];
    expect(fromFile.stdout).not.toBe("");
    expect([raw.stdout, live.stdout]).toEqual([fromFile.stdout, fromFile.stdout]);
    const endless = file.slice();
    new DataView(endless.buffer).setUint32(40, 0xffff_ffff, true);
    expect((await inferyard([...own, "--pause-seconds", "1"], { stdin: endless })).stderr).toContain("voice activity");
    expect((await inferyard([...own, "--live"], { stdin: Buffer.from("no sound at all") })).stderr).toContain(
      "--live reads a WAVE",
    );
  });
});
