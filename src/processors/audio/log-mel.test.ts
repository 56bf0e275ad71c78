import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { needsData, sharedData } from "../../../test/fixtures/shared-data.ts";
import { createRealFft } from "./fft.ts";
import { createLogMel, limitDynamicRange, maximumLogEnergy } from "./log-mel.ts";
import { decodeWave } from "./wav.ts";

/** Features of transformers 5.24.0; `log-mel.goldens.json` names its fields. */
const goldens = JSON.parse(readFileSync(new URL("log-mel.goldens.json", import.meta.url), "utf8")) as {
  cases: { mels: number; length: number; frames: number; columns: number[]; values: string }[];
};

function floats(base64: string): Float32Array {
  return new Float32Array(Uint8Array.from(Buffer.from(base64, "base64")).buffer);
}

function largestDifference(a: Float32Array, b: Float32Array): number {
  expect(a.length).toBe(b.length);
  return a.reduce((max, value, index) => Math.max(max, Math.abs(value - b[index]!)), 0);
}

/** Tones that sweep over the whole band, and noise of a Lehmer generator: the same in Python. */
function sound(length: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length }, (_, index) => {
    state = (state * 48_271) % 2_147_483_647;
    return 0.5 * Math.sin(0.00002 * index * index) + 0.01 * (state / 2_147_483_647 - 0.5);
  });
}

describe("the transform of real frames", () => {
  test.each([2, 4, 6, 14, 16, 30, 44, 400, 512])("of %i samples is the discrete Fourier transform", (length) => {
    const frame = Float64Array.from({ length }, (_, index) => Math.sin(index * index) + 0.1 * index);
    const power = new Float64Array(length / 2 + 1);
    createRealFft(length).powerSpectrum(frame, power);
    const expected = power.map((_, k) => {
      let [real, imaginary] = [0, 0];
      frame.forEach((value, index) => {
        real += value * Math.cos((2 * Math.PI * k * index) / length);
        imaginary -= value * Math.sin((2 * Math.PI * k * index) / length);
      });
      return real * real + imaginary * imaginary;
    });
    power.forEach((value, k) => expect(Math.abs(value - expected[k]!)).toBeLessThan(1e-9 * (1 + expected[k]!)));
  });
});

describe("Whisper's log-mel features", () => {
  test.each(goldens.cases)(
    "of $length samples with $mels bins are those of transformers",
    ({ mels, length, frames, columns, values }) => {
      const features = createLogMel({ mels }).features(sound(length), frames * 160);
      expect(features.frames).toBe(frames);
      const seen = columns.flatMap((frame) => Array.from({ length: mels }, (_, mel) => features.data[mel * frames + frame]!));
      expect(largestDifference(Float32Array.from(seen), floats(values))).toBeLessThan(1e-5);
    },
  );

  test("pieces are equal to the whole", () => {
    const samples = sound(5000);
    const frontEnd = createLogMel({ mels: 80 });
    const whole = frontEnd.features(samples, 8000);
    const pieces = [0, 20, 40].map((first) =>
      frontEnd.logEnergies(samples, { first, frames: Math.min(20, 50 - first), length: 8000 }),
    );
    const maximum = Math.max(...pieces.map(maximumLogEnergy));
    for (const piece of pieces) limitDynamicRange(piece, maximum);
    expect(pieces[1]!.subarray(0, 20)).toEqual(whole.data.slice(20, 40));
    expect(pieces[2]!.subarray(0, 10)).toEqual(whole.data.slice(40, 50));
  });

  test("silence, and no sound at all, have the smallest value in all frames", () => {
    const frontEnd = createLogMel({ mels: 80 });
    for (const { data } of [frontEnd.features(new Float32Array(0), 480_000), frontEnd.features(new Float32Array(1000))])
      expect([...new Set(data)]).toEqual([-1.5]);
  });

  test("settings without a transform are refused", () => {
    expect(() => createLogMel({ mels: 0 })).toThrow(/feature_size is 0/u);
    expect(() => createLogMel({ mels: 80, fftLength: 401 })).toThrow(/n_fft is 401/u);
  });
});

const [skip, name] = needsData("tiny-random-whisper");
describe.skipIf(skip)(name, () => {
  test("its golden features are met", () => {
    const folder = `${sharedData}tiny-random-whisper/`;
    const { log_mel: golden } = JSON.parse(readFileSync(`${folder}goldens.json`, "utf8")) as {
      log_mel: { first_202_frames: { data: string }; remaining_frames_constant: number };
    };
    const wave = decodeWave(readFileSync(`${folder}chirp-2s.wav`));
    const { data } = createLogMel({ mels: 80 }).features(wave.samples[0]!, 480_000);
    const rows = Array.from({ length: 80 }, (_, mel) => data.subarray(mel * 3000, (mel + 1) * 3000));
    const first = Float32Array.from(rows.flatMap((row) => [...row.subarray(0, 202)]));
    expect(largestDifference(first, floats(golden.first_202_frames.data))).toBeLessThan(1e-4);
    const rest = rows.flatMap((row) => [...row.subarray(202)]);
    const constant = new Float32Array(rest.length).fill(golden.remaining_frames_constant);
    expect(largestDifference(Float32Array.from(rest), constant)).toBeLessThan(1e-4);
  });
});
