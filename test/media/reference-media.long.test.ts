/**
 * Pictures of every kind that is decoded against Pillow and transformers' image processors, and sounds against libsndfile, soxr and Whisper's front end, all in one
 * run with random contents. Prints the largest differences: of samples from 0 to 255, of pixel values, of sound from -1 to 1, of log-mel features.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { decodeMonoSound, decodeSound } from "../../src/processors/audio/decode-sound.ts";
import { createLogMel } from "../../src/processors/audio/log-mel.ts";
import { decodePicture } from "../../src/processors/images/decode-picture.ts";
import { processPictures } from "../../src/processors/images/process-pictures.ts";
import { readImageSettings } from "../../src/processors/images/read-image-settings.ts";
import { installPython, needsInstalled, pythonOf } from "../fixtures/installed.ts";

/** PYTHON_OF_MEDIA names a Python that has these packages already. */
const packages = ["numpy==2.4.6", "pillow==13.0.0", "soundfile==0.14.0", "soxr==1.1.0", "transformers==5.24.0"];
const [pictures, sounds] = [200, 50];
/** Seed 2 has a FLAC file whose last frame is lost where no header follows it. */
const seed = Number(process.env["SEED"] ?? 2);

interface PictureReference {
  readonly kind: string;
  readonly width: number;
  readonly height: number;
  readonly file: string;
  /** RGB over white. */
  readonly rgb: string;
  readonly configuration: Readonly<Record<string, unknown>>;
  readonly shape: readonly number[];
  readonly pixels: string;
}

interface SoundReference {
  readonly kind: string;
  readonly sampleRate: number;
  readonly channels: number;
  readonly file: string;
  readonly samples: string;
  readonly resampled: string;
  readonly features: string;
}

/** Largest differences by subject. */
class Differences {
  readonly #largest = new Map<string, number>();

  add(subject: string, actual: ArrayLike<number>, expected: ArrayLike<number>): void {
    let largest = actual.length === expected.length ? 0 : Number.POSITIVE_INFINITY;
    for (let index = 0; index < expected.length; index++) {
      const difference = Math.abs((actual[index] ?? 0) - (expected[index] ?? 0));
      if (!(difference <= largest)) largest = difference;
    }
    this.#largest.set(subject, Math.max(this.#largest.get(subject) ?? 0, largest));
  }

  print(title: string): void {
    console.log(title);
    console.table(
      Object.fromEntries([...this.#largest].map(([subject, largest]) => [subject, { "largest difference": largest }])),
    );
  }

  /** Subjects that differ by more than `bound` states. */
  beyond(bound: (subject: string) => number): string[] {
    return [...this.#largest]
      .filter(([subject, largest]) => !(largest <= bound(subject)))
      .map(([subject, largest]) => `${subject}: ${largest}`);
  }
}

describe(`${pictures} pictures and ${sounds} sounds, from seed ${seed}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "inferyard-reference-media-"));
  const python = process.env["PYTHON_OF_MEDIA"];
  let reference: { readonly pictures: readonly PictureReference[]; readonly sounds: readonly SoundReference[] };
  const bytes = (name: string): Uint8Array<ArrayBuffer> => new Uint8Array(readFileSync(join(folder, name)));
  const floats = (name: string): Float32Array => new Float32Array(bytes(name).buffer);

  needsInstalled(async () => (python === undefined ? await installPython(folder, packages) : undefined));
  beforeAll(() => {
    const path = python ?? pythonOf(folder);
    const script = fileURLToPath(new URL("fixtures/reference-media.py", import.meta.url));
    if (!existsSync(path)) return; // the tests are skipped, with the reason
    execFileSync(path, [script, folder, String(seed), String(pictures), String(sounds)], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    reference = JSON.parse(readFileSync(join(folder, "reference.json"), "utf8")) as typeof reference;
  }, 300_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("pictures are decoded as Pillow does, and prepared as transformers do", async () => {
    const [decoded, prepared] = [new Differences(), new Differences()];
    for (const { kind, width, height, file, rgb, configuration, shape, pixels } of reference.pictures) {
      const picture = await decodePicture(bytes(file));
      expect([kind, picture.width, picture.height]).toEqual([kind, width, height]);
      decoded.add(kind, picture.data, bytes(rgb));
      const settings = readImageSettings({ preprocessor: configuration })!;
      const batch = processPictures([{ width, height, channels: 3, data: bytes(rgb) }], settings);
      expect(batch.shape).toEqual(shape);
      prepared.add(String(configuration["image_processor_type"]), batch.data, floats(pixels));
    }
    decoded.print("decoding, of 255");
    prepared.print("preparing, of pixel values");
    // libheif rounds the conversion of YUV otherwise than Pillow.
    expect(decoded.beyond((kind) => (kind === "AVIF" ? 2 : 0))).toEqual([]);
    expect(prepared.beyond(() => 1e-4)).toEqual([]);
  });

  it("sounds are decoded as libsndfile does, resampled as soxr does, and turned to features as Whisper does", async () => {
    const [decoded, resampled, features] = [new Differences(), new Differences(), new Differences()];
    const logMel = createLogMel({ mels: 80 });
    for (const sound of reference.sounds) {
      const file = bytes(sound.file);
      const { samples, sampleRate } = await decodeSound(file);
      const { channels } = sound;
      // The decoder of MP3 repeats a single channel.
      expect([sound.kind, sampleRate, sound.kind === "MP3" ? 2 : samples.length]).toEqual([
        sound.kind,
        sound.sampleRate,
        sound.kind === "MP3" ? samples.length : channels,
      ]);
      const expected = floats(sound.samples);
      const frames = expected.length / channels;
      for (const [index, own] of samples.entries()) {
        const first = Math.min(index, channels - 1) * frames;
        decoded.add(sound.kind, own, expected.subarray(first, first + frames));
      }
      const mono = floats(sound.resampled);
      resampled.add(`${sampleRate} to 16000 Hz`, await decodeMonoSound(file, 16_000), mono);
      features.add("Whisper, 80 mels", logMel.features(mono, 480_000).data, floats(sound.features));
    }
    decoded.print("decoding, of 1");
    resampled.print("mixing and resampling, of 1");
    features.print("log-mel features");
    expect(decoded.beyond(soundBound)).toEqual([]);
    // Bounds of the resampler on white noise (src/processors/audio/resample.ts), and of the decoders before it.
    expect(resampled.beyond((rates) => (/^(?:8|16|24|32|48)000 /.test(rates) ? 1e-4 : 3e-3))).toEqual([]);
    expect(features.beyond(() => 1e-4)).toEqual([]);
  });
});

/** The largest difference that a decoder may have: other decoders of lossy formats round otherwise. */
function soundBound(kind: string): number {
  if (kind === "Ogg Opus") return 1e-4;
  return kind === "MP3" || kind === "Ogg Vorbis" ? 1e-5 : 0;
}
