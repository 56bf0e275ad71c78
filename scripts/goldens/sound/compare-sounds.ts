/**
 * Prints the largest difference of each processor of sound from the references that reference-sounds.py wrote, and how fast each is:
 * `npx tsx scripts/goldens/sound/compare-sounds.ts FOLDER`. Exits with 1 where a bound is exceeded.
 */
import { readFileSync } from "node:fs";
import { decodeSound } from "../../../src/processors/audio/decode-sound.ts";
import { createFeatureExtractor } from "../../../src/processors/audio/feature-extractor.ts";
import { resample } from "../../../src/processors/audio/resample.ts";

interface ReferenceSound {
  readonly kind: string;
  /** Hz that the sound is taken to have before it is resampled to 16 kHz. */
  readonly rate: number;
  readonly file: string;
}

const folder = process.argv[2] ?? "";

function floats(file: string): Float32Array {
  return new Float32Array(Uint8Array.from(readFileSync(`${folder}/${file}`)).buffer);
}

/** Extractors by the names of their files. */
const extractors: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "whisper-80": { feature_extractor_type: "WhisperFeatureExtractor" },
  "whisper-128": { feature_extractor_type: "WhisperFeatureExtractor", feature_size: 128 },
  wav2vec2: { feature_extractor_type: "Wav2Vec2FeatureExtractor" },
  ast: { feature_extractor_type: "ASTFeatureExtractor" },
  seamless: { feature_extractor_type: "SeamlessM4TFeatureExtractor" },
};

/** Largest difference that is allowed, by processor. */
const bounds: Readonly<Record<string, number>> = {
  "resample (factors up to 4)": 5e-6,
  "seamless (steady)": 5e-2,
  "resample (other factors)": 3e-3,
  "decode wav": 0,
  "decode flac": 0,
  "decode ogg": 1e-5,
  "decode mp3": 1e-5,
};
const featureBound = 1e-4;

/** Kinds of sound whose spectrum hardly varies. */
const steady = new Set(["tone", "square", "clipped"]);

/** What was seen of a processor. */
class Measured {
  difference = 0;
  worst = "";
  sounds = 0;
  seconds = 0;
  milliseconds = 0;
}

const measured = new Map<string, Measured>();

function compare(
  name: string,
  kind: string,
  ours: Float32Array,
  reference: Float32Array,
  [seconds, milliseconds]: readonly [number, number],
): void {
  const row = measured.get(name) ?? new Measured();
  measured.set(name, row);
  const difference =
    ours.length === reference.length
      ? ours.reduce((max, value, index) => Math.max(max, Math.abs(value - (reference[index] ?? 0))), 0)
      : Number.POSITIVE_INFINITY;
  if (difference >= row.difference) Object.assign(row, { difference, worst: kind });
  row.sounds += 1;
  row.seconds += seconds;
  row.milliseconds += milliseconds;
}

const index = JSON.parse(readFileSync(`${folder}/index.json`, "utf8")) as ReferenceSound[];
const exact = new Set([8000, 12_000, 24_000, 32_000, 48_000]);

async function compareAll(): Promise<void> {
  const created = Object.entries(extractors).map(([name, config]) => [name, createFeatureExtractor(config)] as const);
  for (const [number, { kind, rate, file }] of index.entries()) {
    const samples = floats(`${number}.f32`);
    for (const [name, extractor] of created) {
      const started = performance.now();
      const [features] = Object.values(extractor.extract(samples));
      const milliseconds = performance.now() - started;
      // What hardly varies is divided by its deviation, which is the reference's rounding of 32-bit sums.
      const row = name === "seamless" && steady.has(kind) ? "seamless (steady)" : name;
      compare(row, kind, features?.data as Float32Array, floats(`${number}-${name}.f32`), [
        samples.length / 16_000,
        milliseconds,
      ]);
    }
    const faded = floats(`${number}-faded.f32`);
    const started = performance.now();
    const resampled = resample(faded, rate, 16_000);
    const name = `resample (${exact.has(rate) ? "factors up to 4" : "other factors"})`;
    compare(name, `${kind}, ${rate} Hz`, resampled, floats(`${number}-soxr.f32`), [
      faded.length / rate,
      performance.now() - started,
    ]);
    const begun = performance.now();
    const { samples: channels } = await decodeSound(readFileSync(`${folder}/${file}`));
    const ended = performance.now();
    const [first = new Float32Array(0)] = channels;
    compare(`decode ${file.split(".")[1]}`, kind, first, floats(`${number}-decoded.f32`), [first.length / 16_000, ended - begun]);
  }
}

await compareAll();
for (const [name, { difference, worst, sounds, seconds, milliseconds }] of measured) {
  const bound = bounds[name] ?? featureBound;
  const isWithin = difference <= bound;
  if (!isWithin) process.exitCode = 1;
  const speed = Math.round((seconds * 1000) / milliseconds);
  console.log(
    `${name.padEnd(28)} ${difference.toExponential(1)} (${worst}; bound ${bound}${isWithin ? "" : ", EXCEEDED"}), ${sounds} sounds, ${speed} s of sound per second`,
  );
}
