/** Silero's network on every engine, against the segments of its package (scripts/goldens/sound/voice-activity.py). */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createRuntime, type Runtime } from "inferyard";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { needsInstalled, problemOfInstallation } from "../fixtures/installed.ts";
import { sampled } from "../fixtures/slow.ts";
import { fetchVoiceActivity } from "./fixtures/voice-activity.ts";

interface Golden {
  readonly file: string;
  /** Samples at 16 kHz. */
  readonly length: number;
  readonly segments: [start: number, end: number][];
  /** With maxSpeechSeconds 3 and minSilenceMs 500. */
  readonly cut: [start: number, end: number][];
}
const goldens = JSON.parse(readFileSync(new URL("fixtures/voice-activity-goldens.json", import.meta.url), "utf8")) as Golden[];

describe("Silero's voice activity", () => {
  let runtime: Runtime;
  let installed: { readonly networks: string; readonly sounds: string };
  needsInstalled(() =>
    problemOfInstallation(async () => {
      installed = await fetchVoiceActivity();
    }),
  );
  beforeAll(async () => {
    runtime = await createRuntime({ host: "inline", threads: 1 });
  });
  afterAll(() => runtime.dispose());

  const rows = ["onnx:cpu", "native", "wasm"].flatMap((target) =>
    ["silero_vad.onnx", "silero_vad_16k_sequence.onnx"].flatMap((network) =>
      goldens.map((golden) => ({ ...golden, target, network })),
    ),
  );
  const isShort = ({ file }: Golden): boolean => file !== "two_cities.wav" && file !== "endgame_nagg_nell.wav";
  const isOfSample = (row: (typeof rows)[number]): boolean =>
    row.target === "onnx:cpu"
      ? isShort(row) || row.network === "silero_vad_16k_sequence.onnx"
      : row.file === "beckett.wav" && (row.target === "native") === (row.network === "silero_vad.onnx");

  for (const [skips, title, some] of sampled("$file with $network on $target", rows, isOfSample))
    it.skipIf(skips).each(some)(title, async ({ file, target, network, length, segments, cut }) => {
      const sound = new Uint8Array(readFileSync(join(installed.sounds, file)));
      const model = join(installed.networks, network);
      const found = await runtime.detectSpeech(sound, { model, target });
      const inSamples = (ranges: typeof found.segments): number[][] =>
        ranges.map(({ start, end }) => [start * 16_000, end * 16_000].map(Math.round));
      expect(found.duration).toBe(length / 16_000);
      expect(inSamples(found.segments)).toEqual(segments);
      const parts = await runtime.detectSpeech(sound, { model, target, maxSpeechSeconds: 3, minSilenceMs: 500 });
      expect(inSamples(parts.segments)).toEqual(cut);
    });

  it("silence and noise have no speech, and progress is told", async () => {
    let state = 1;
    const noise = Float32Array.from({ length: 160_000 }, () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647 - 0.5);
    const model = join(installed.networks, "silero_vad.onnx");
    for (const samples of [noise, new Float32Array(160_000)]) {
      const done: number[] = [];
      const { segments } = await runtime.detectSpeech(
        { sampleRate: 16_000, samples },
        { model, onProgress: (progress) => done.push(progress.done) },
      );
      expect(segments).toEqual([]);
      expect([done.length, done.at(-1)]).toEqual([313, 10]);
    }
  });
});
