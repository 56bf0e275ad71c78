/** Transcribing several windows of a sound at once. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime, type Runtime, type TranscribeOptions, type TranscriptSegment } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { sampled } from "../fixtures/slow.ts";
import { writeLoudIsSpeech } from "./fixtures/loud-is-speech.ts";

const model = `${sharedData}tiny-random-whisper`;
const [skip, name] = needsData("transcribing windows at once");
const rate = 16_000;
type SpokenSound = Parameters<Runtime["transcribe"]>[0];
type Options = Omit<TranscribeOptions, "stream">;

/** Seconds of sound, each part at its own pitch, with 3 s of silence after each. */
const parts = [20, 24, 16, 5, 12];
/** The parts that are joined to a window: together no longer than 30 s with 0.4 s of silence around each. */
const wantedWindows = [[0], [1], [2, 3], [4]];

function spokenParts(): Float32Array {
  const samples = new Float32Array(parts.reduce((sum, seconds) => sum + seconds + 3, 0) * rate);
  let at = 0;
  for (const [part, seconds] of parts.entries()) {
    for (let index = 0; index < seconds * rate; index += 1) {
      const time = index / rate;
      samples[at + index] = 0.3 * Math.sin(2 * Math.PI * (200 + 170 * part + 20 * Math.sin(3 * time)) * time) + 0.05;
    }
    at += (seconds + 3) * rate;
  }
  return samples;
}

describe.skipIf(skip)(name, () => {
  let runtime: Runtime;
  let folder = "";
  let vadModel = "";
  const samples = spokenParts();
  const sound = { sampleRate: rate, samples };
  beforeAll(async () => {
    runtime = await createRuntime({ host: "inline", threads: 1 });
    folder = mkdtempSync(join(tmpdir(), "inferyard-batched-"));
    vadModel = join(folder, "loud.onnx");
    writeLoudIsSpeech(vadModel);
  });
  afterAll(async () => {
    await runtime.dispose();
    rmSync(folder, { recursive: true, force: true });
  });

  // The model has random weights: its text is kept at any probability, and no text at temperature 0 is probable enough.
  const options: Options & { readonly model: string } = {
    model,
    language: "en",
    temperature: [0, 0.5],
    bestOf: 2,
    noSpeechThreshold: 2,
    maxNewTokens: 8,
  };

  const expectTheSame = async (target: string): Promise<void> => {
    const rules = { minSpeechMs: 0, minSilenceMs: 160, speechPadMs: 400 };
    const { segments: speech } = await runtime.detectSpeech(sound, { model: vadModel, ...rules });
    expect(speech).toHaveLength(parts.length);
    const wanted: TranscriptSegment[] = [];
    for (const window of wantedWindows) {
      const ranges = window.map((part) => speech[part]!);
      const pieces = ranges.map(({ start, end }) => samples.subarray(Math.round(start * rate), Math.round(end * rate)));
      const own = Float32Array.from(pieces.flatMap((piece) => [...piece]));
      const given = { ...options, target, conditionOnPreviousText: false };
      const alone = await runtime.transcribe({ sampleRate: rate, samples: own }, given);
      const toWhole = (time: number, isEnd: boolean): number => {
        let local = Math.min(time, own.length / rate);
        for (const { start, end } of ranges) {
          if (local < end - start || (isEnd && local <= end - start) || end === ranges.at(-1)!.end) return start + local;
          local -= end - start;
        }
        throw new Error("there are no ranges");
      };
      for (const each of alone.segments)
        wanted.push({ ...each, start: toWhole(each.start, false), end: toWhole(each.end, true) });
    }
    const progress: number[] = [];
    const onProgress = ({ done }: { readonly done: number }): void => void progress.push(done);
    const batched = await runtime.transcribe(sound, { ...options, target, vadModel, batchSize: 3, onProgress });
    const withoutTimes = ({ text, tokens, temperature }: (typeof wanted)[number]): object => ({ text, tokens, temperature });
    expect(batched.segments.map(withoutTimes)).toEqual(wanted.map(withoutTimes));
    for (const [index, { start, end }] of batched.segments.entries()) {
      expect(Math.abs(start - wanted[index]!.start)).toBeLessThan(0.011);
      expect(Math.abs(end - wanted[index]!.end)).toBeLessThan(0.011);
    }
    expect(progress).toEqual(progress.toSorted((one, other) => one - other));
    expect(progress.at(-1)).toBeCloseTo(speech.at(-1)!.end, 1);
    expect(batched.duration).toBe(samples.length / rate);
  };
  const title = "%s: each window gives what it gives alone, with times of the whole sound";
  for (const [skips, sampledTitle, targets] of sampled(title, ["onnx:cpu", "native"], (target) => target === "native"))
    it.skipIf(skips).each(targets)(sampledTitle, async (target) => await expectTheSame(target));

  it("ends when it is aborted in the middle, and the model goes on", async () => {
    const controller = new AbortController();
    const onProgress = (): void => controller.abort();
    const call = { ...options, target: "onnx:cpu", vadModel, batchSize: 2, timestamps: "none", temperature: 0 } as const;
    await expect(runtime.transcribe(sound, { ...call, onProgress, signal: controller.signal })).rejects.toMatchObject({
      code: "ABORTED",
    });
    const { segments } = await runtime.transcribe(sound, call);
    expect(segments).toHaveLength(wantedWindows.length);
  });

  it("refuses several windows at once without voice activity, in chunks, and with the text before them", async () => {
    const call = (more: Options, of: SpokenSound = sound) =>
      runtime.transcribe(of, { ...options, target: "onnx:cpu", batchSize: 2, ...more });
    const refused: readonly (readonly [Options, RegExp])[] = [
      [{}, /^batchSize is 2, .*voice activity/],
      [{ vadModel, vad: false }, /^batchSize is 2, .*voice activity/],
      [{ vadModel, conditionOnPreviousText: true }, /"conditionOnPreviousText" has no effect/],
      [{ vadModel, promptResetOnTemperature: 0.5 }, /"promptResetOnTemperature" has no effect/],
      [{ vadModel, batchSize: 0 }, /batchSize/],
      [{ vadModel, batchSize: 65 }, /batchSize/],
    ];
    for (const [more, message] of refused)
      await expect(call(more)).rejects.toMatchObject({
        code: "INPUT_INVALID",
        message: expect.stringMatching(message) as string,
      });
    async function* chunks(): AsyncGenerator<Float32Array> {
      yield samples;
    }
    await expect(call({ vadModel }, { sampleRate: rate, chunks: chunks() })).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.stringContaining("batchSize is 2") as string,
    });
  });
});
