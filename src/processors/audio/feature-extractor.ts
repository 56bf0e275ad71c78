/** Feature extractors of preprocessor_config.json: sound to the tensors of a model. A class that is not computed here is refused by its name. */

import { InferyardError } from "../../contract/errors.ts";
import type { TensorMap } from "../../contract/tensor.ts";
import { createFbank, type FbankFeatures } from "./fbank.ts";
import { createLogMel } from "./log-mel.ts";

/** The content of preprocessor_config.json. */
export type ExtractorConfig = Readonly<Record<string, unknown>>;

/** Turns one sound into tensors for a batch of one. */
export interface FeatureExtractor {
  /** The class in transformers. */
  readonly name: string;
  /** Hz of the sound that it takes. */
  readonly sampleRate: number;
  /** The tensors by the names of the model's inputs; the first is the features. `attention_mask` is there if the files ask for it. */
  extract(samples: Float32Array): TensorMap;
}

/** Numbers and flags of the configuration with their defaults. Throws MODEL_INVALID for a value of another type. */
class Fields {
  readonly #config: ExtractorConfig;

  constructor(config: ExtractorConfig) {
    this.#config = config;
  }

  number(name: string, byDefault: number): number {
    const value = this.#config[name] ?? byDefault;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    throw new InferyardError(
      "MODEL_INVALID",
      `preprocessor_config.json: ${name} is ${JSON.stringify(value)}, and must be a number`,
    );
  }

  /** A whole number from 1 to 1,000,000. */
  count(name: string, byDefault: number): number {
    const value = this.number(name, byDefault);
    if (Number.isInteger(value) && value >= 1 && value <= 1_000_000) return value;
    throw new InferyardError(
      "MODEL_INVALID",
      `preprocessor_config.json: ${name} is ${value}, and must be a whole number from 1 to 1000000`,
    );
  }

  flag(name: string, byDefault: boolean): boolean {
    const value = this.#config[name] ?? byDefault;
    if (typeof value === "boolean") return value;
    throw new InferyardError(
      "MODEL_INVALID",
      `preprocessor_config.json: ${name} is ${JSON.stringify(value)}, and must be true or false`,
    );
  }

  /** Throws MODEL_UNSUPPORTED unless a field is absent or has the only value that is computed. */
  only(name: string, value: number): void {
    if (this.number(name, value) === value) return;
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `preprocessor_config.json: ${name} is ${this.number(name, value)}; only ${value} is computed`,
    );
  }
}

/** Mean and variance of a sound become 0 and 1: (x - mean) / sqrt(variance + 1e-7), in 64 bits. */
export function normalizeVolume(samples: Float32Array): Float32Array {
  let sum = 0;
  for (const sample of samples) sum += sample;
  const mean = sum / samples.length;
  let squares = 0;
  for (const sample of samples) squares += (sample - mean) ** 2;
  const scale = 1 / Math.sqrt(squares / samples.length + 1e-7);
  const result = new Float32Array(samples.length);
  for (let index = 0; index < samples.length; index++) result[index] = ((samples[index] ?? 0) - mean) * scale;
  return result;
}

/** A mask of ones, for a batch of one. */
function fullMask(length: number): TensorMap {
  return { attention_mask: { dataType: "int64", shape: [1, length], data: new BigInt64Array(length).fill(1n) } };
}

function createWav2Vec2(fields: Fields): Omit<FeatureExtractor, "name"> {
  fields.only("feature_size", 1);
  const normalize = fields.flag("do_normalize", true);
  const masked = fields.flag("return_attention_mask", false);
  return {
    sampleRate: fields.count("sampling_rate", 16_000),
    extract(samples) {
      const data = normalize ? normalizeVolume(samples) : samples;
      const mask = masked ? fullMask(samples.length) : {};
      return { input_values: { dataType: "float32", shape: [1, samples.length], data }, ...mask };
    },
  };
}

function createWhisper(fields: Fields): Omit<FeatureExtractor, "name"> {
  fields.only("dither", 0);
  fields.only("padding_value", 0);
  const mels = fields.count("feature_size", 80);
  const sampleRate = fields.count("sampling_rate", 16_000);
  const hopLength = fields.count("hop_length", 160);
  const frontEnd = createLogMel({ mels, sampleRate, hopLength, fftLength: fields.count("n_fft", 400) });
  const length = fields.count("chunk_length", 30) * sampleRate;
  return {
    sampleRate,
    extract(samples) {
      const { frames, data } = frontEnd.features(samples, length);
      return { input_features: { dataType: "float32", shape: [1, mels, frames], data } };
    },
  };
}

function createAst(fields: Fields): Omit<FeatureExtractor, "name"> {
  fields.only("sampling_rate", 16_000);
  const mels = fields.count("num_mel_bins", 128);
  const frames = fields.count("max_length", 1024);
  const normalize = fields.flag("do_normalize", true);
  const mean = fields.number("mean", -4.2677393);
  const deviation = fields.number("std", 4.5689974);
  const fbank = createFbank({ mels, sampleRate: 16_000, window: "hann", scale: 1 });
  return {
    sampleRate: 16_000,
    extract(samples) {
      const data = new Float32Array(frames * mels);
      data.set(fbank.compute(samples, frames).data);
      // The padding is normalized with the frames.
      if (normalize)
        for (let index = 0; index < data.length; index++) data[index] = ((data[index] ?? 0) - mean) / (deviation * 2);
      return { input_values: { dataType: "float32", shape: [1, frames, mels], data } };
    },
  };
}

/**
 * Mean and variance (of a sample: n - 1) of each column become 0 and 1, in 64 bits. Where a column hardly varies (a steady tone), the features of
 * transformers are the rounding of its 32-bit sums, up to 0.05 from these.
 */
function normalizeColumns({ frames, data }: FbankFeatures, mels: number): void {
  for (let mel = 0; mel < mels; mel++) {
    let sum = 0;
    for (let frame = 0; frame < frames; frame++) sum += data[frame * mels + mel] ?? 0;
    const mean = sum / frames;
    let squares = 0;
    for (let frame = 0; frame < frames; frame++) squares += ((data[frame * mels + mel] ?? 0) - mean) ** 2;
    const scale = 1 / Math.sqrt(squares / Math.max(1, frames - 1) + 1e-7);
    for (let frame = 0; frame < frames; frame++) data[frame * mels + mel] = ((data[frame * mels + mel] ?? 0) - mean) * scale;
  }
}

function createSeamless(fields: Fields): Omit<FeatureExtractor, "name"> {
  fields.only("sampling_rate", 16_000);
  const mels = fields.count("num_mel_bins", 80);
  const stride = fields.count("stride", 2);
  fields.only("feature_size", mels);
  const padding = fields.number("padding_value", 0);
  const fbank = createFbank({ mels, sampleRate: 16_000, window: "povey", scale: 32_768 });
  return {
    sampleRate: 16_000,
    extract(samples) {
      const features = fbank.compute(samples);
      normalizeColumns(features, mels);
      // Frames are padded to an even number, `stride` of them become one row, and what is left over is dropped.
      const padded = features.frames + (features.frames % 2);
      const rows = Math.floor(padded / stride);
      const data = new Float32Array(rows * stride * mels).fill(padding);
      data.set(features.data.subarray(0, data.length));
      const mask = BigInt64Array.from({ length: rows }, (_, row) => (row * stride + 1 < features.frames ? 1n : 0n));
      return {
        input_features: { dataType: "float32", shape: [1, rows, mels * stride], data },
        attention_mask: { dataType: "int64", shape: [1, rows], data: mask },
      };
    },
  };
}

const extractors: Readonly<Record<string, (fields: Fields) => Omit<FeatureExtractor, "name">>> = {
  Wav2Vec2FeatureExtractor: createWav2Vec2,
  WhisperFeatureExtractor: createWhisper,
  ASTFeatureExtractor: createAst,
  SeamlessM4TFeatureExtractor: createSeamless,
};

/**
 * The extractor of a model by its preprocessor_config.json; without one, a model of raw samples is taken to be wav2vec2's. Throws MODEL_UNSUPPORTED
 * for a class that is not computed here, MODEL_INVALID for fields with impossible values.
 */
export function createFeatureExtractor(config: ExtractorConfig | undefined): FeatureExtractor {
  const name = config?.["feature_extractor_type"] ?? "Wav2Vec2FeatureExtractor";
  const create = typeof name === "string" && Object.hasOwn(extractors, name) ? extractors[name] : undefined;
  if (typeof name !== "string" || create === undefined)
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `preprocessor_config.json names the feature extractor ${JSON.stringify(name)}, which is not computed`,
      {
        remedy: `computed are ${Object.keys(extractors).join(", ")}`,
      },
    );
  return { name, ...create(new Fields(config ?? {})) };
}
