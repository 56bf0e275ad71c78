import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createPolyphaseResampler } from "./polyphase-resampler.ts";
import { createResampler, resample } from "./resample.ts";
import type { Resampler } from "./resampling-filter.ts";
import { createSpectralResampler } from "./spectral-resampler.ts";

/** Samples of soxr 1.1.0; `resample.goldens.json` names its fields. */
const goldens = JSON.parse(readFileSync(new URL("resample.goldens.json", import.meta.url), "utf8")) as {
  cases: { inputRate: number; outputRate: number; length: number; step: number; values: string }[];
};

/** White noise of a Lehmer generator that swells and fades: the same in Python. */
function noise(length: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length }, (_, index) => {
    state = (state * 48_271) % 2_147_483_647;
    return ((2 * state) / 2_147_483_647 - 1) * (0.5 - 0.5 * Math.cos((2 * Math.PI * index) / length));
  });
}

function largestDifference(a: Float32Array, b: Float32Array): number {
  expect(a.length).toBe(b.length);
  return a.reduce((max, value, index) => Math.max(max, Math.abs(value - b[index]!)), 0);
}

function inPieces(resampler: Resampler, samples: Float32Array, lengths: readonly number[]): Float32Array {
  const pieces: Float32Array[] = [];
  let at = 0;
  for (const length of lengths) pieces.push(resampler.push(samples.subarray(at, (at += length))));
  pieces.push(resampler.push(samples.subarray(at)), resampler.finish());
  return Float32Array.from(pieces.flatMap((piece) => [...piece]));
}

/** Where the ratio has small factors, soxr's filter is ours. */
const equalFilters = new Set(["8000 to 16000", "24000 to 16000", "48000 to 16000", "16000 to 48000"]);

describe("resampling", () => {
  test.each(goldens.cases)(
    "from $inputRate Hz to $outputRate Hz is that of soxr",
    ({ inputRate, outputRate, length, step, values }) => {
      const result = resample(noise(3000), inputRate, outputRate);
      expect(result).toHaveLength(length);
      const expected = new Float32Array(Uint8Array.from(Buffer.from(values, "base64")).buffer);
      const seen = result.filter((_, index) => index % step === 0);
      expect(largestDifference(seen, expected)).toBeLessThan(equalFilters.has(`${inputRate} to ${outputRate}`) ? 2e-6 : 3e-3);
    },
  );

  test.each([
    [44_100, 16_000],
    [47_999, 16_000],
    [8000, 16_000],
    [16_000, 16_000],
  ])("from %i Hz to %i Hz in pieces is equal to the whole", (inputRate, outputRate) => {
    const samples = noise(20_000);
    const pieces = inPieces(createResampler(inputRate, outputRate), samples, [1, 0, 777, 9000, 3]);
    expect(largestDifference(pieces, resample(samples, inputRate, outputRate))).toBe(0);
  });

  test.each([
    { input: 3, output: 1 },
    { input: 441, output: 160 },
    { input: 1, output: 2 },
  ])("$input to $output: sums and transforms agree", (ratio) => {
    const samples = noise(5000);
    const sums = inPieces(createPolyphaseResampler(ratio), samples, [1000]);
    expect(largestDifference(inPieces(createSpectralResampler(ratio), samples, [50]), sums)).toBeLessThan(1e-5);
  });

  test.each([0, 1, 2, 5])("%i samples have a result of the stated length", (length) => {
    expect(resample(noise(length), 48_000, 16_000)).toHaveLength(Math.round(length / 3));
    expect(resample(noise(length), 47_999, 96_000)).toHaveLength(Math.round((length * 96_000) / 47_999));
  });

  test("a tone below the pass band's end keeps its amplitude, one above the lower Nyquist frequency vanishes", () => {
    const tone = (hertz: number): Float32Array =>
      Float32Array.from({ length: 20_000 }, (_, index) => Math.sin((2 * Math.PI * hertz * index) / 44_100));
    const peak = (hertz: number): number => Math.max(...resample(tone(hertz), 44_100, 16_000).subarray(1000, 6000));
    expect(peak(7200)).toBeCloseTo(1, 3);
    expect(peak(8100)).toBeLessThan(2e-6);
  });

  test("a rate that no sound has is refused", () => {
    expect(() => createResampler(0, 16_000)).toThrow(/sample rate is 0 Hz/u);
    expect(() => createResampler(16_000, 44_100.5)).toThrow(/44100.5 Hz/u);
  });
});
