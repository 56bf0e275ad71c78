import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createFeatureExtractor } from "./feature-extractor.ts";

interface Golden {
  readonly name: string;
  readonly config: Record<string, unknown>;
  /** Samples of the sound. */
  readonly length: number;
  readonly input: string;
  readonly shape: number[];
  /** Every step-th value is there. */
  readonly step: number;
  readonly values: string;
  /** Length and sum of the attention mask. */
  readonly masked: [number, number] | null;
}

/** Features of transformers 5.24.0: scripts/goldens/sound/feature-extractors.py. */
const { cases } = JSON.parse(readFileSync(new URL("feature-extractor.goldens.json", import.meta.url), "utf8")) as {
  cases: Golden[];
};

/** Tones, noise of a Lehmer generator and an offset: the same in Python. */
function sound(length: number): Float32Array {
  let state = 1;
  return Float32Array.from({ length }, (_, index) => {
    state = (state * 48_271) % 2_147_483_647;
    return 0.5 * Math.sin(0.00002 * index * index) + 0.01 * (state / 2_147_483_647 - 0.5) + 0.05;
  });
}

describe("feature extractors", () => {
  test.each(cases.map((golden) => ({ ...golden, title: `${golden.name} ${JSON.stringify(golden.config)}` })))(
    "$title gives the features of transformers",
    ({ name, config, length, input, shape, step, values, masked }) => {
      const tensors = createFeatureExtractor({ ...config, feature_extractor_type: name }).extract(sound(length));
      expect(Object.keys(tensors)[0]).toBe(input);
      expect(tensors[input]!.shape).toEqual(shape);
      const expected = new Float32Array(Uint8Array.from(Buffer.from(values, "base64")).buffer);
      const seen = (tensors[input]!.data as Float32Array).filter((_, index) => index % step === 0);
      expect(seen).toHaveLength(expected.length);
      expect(seen.reduce((max, value, index) => Math.max(max, Math.abs(value - expected[index]!)), 0)).toBeLessThan(1e-4);
      const mask = tensors["attention_mask"]?.data as BigInt64Array | undefined;
      expect(mask === undefined ? null : [mask.length, Number(mask.reduce((sum, value) => sum + value, 0n))]).toEqual(masked);
    },
  );

  test("Whisper's has 3,000 frames of 80 bins", () => {
    const extractor = createFeatureExtractor({ feature_extractor_type: "WhisperFeatureExtractor", chunk_length: 1 });
    expect(extractor.extract(sound(500))["input_features"]!.shape).toEqual([1, 80, 100]);
  });

  test("silence is normalized to zeros", () => {
    const { input_values: values } = createFeatureExtractor(undefined).extract(new Float32Array(100));
    expect(values!.data).toEqual(new Float32Array(100));
  });

  test.each([
    [{ feature_extractor_type: "EncodecFeatureExtractor" }, "EncodecFeatureExtractor"],
    [{ feature_extractor_type: 3 }, "names the feature extractor 3"],
    [{ feature_extractor_type: "ASTFeatureExtractor", sampling_rate: 8000 }, "sampling_rate is 8000; only 16000 is computed"],
    [{ feature_extractor_type: "WhisperFeatureExtractor", dither: 0.1 }, "dither is 0.1; only 0 is computed"],
    [{ feature_extractor_type: "Wav2Vec2FeatureExtractor", do_normalize: "yes" }, 'do_normalize is "yes"'],
    [{ feature_extractor_type: "ASTFeatureExtractor", max_length: 1e9 }, "max_length is 1000000000"],
  ])("%j is refused", (config, message) => {
    expect(() => createFeatureExtractor(config)).toThrow(message);
  });

  test("a sound without a whole frame is refused", () => {
    expect(() =>
      createFeatureExtractor({ feature_extractor_type: "ASTFeatureExtractor" }).extract(new Float32Array(399)),
    ).toThrow("the sound has 399 samples");
  });
});
