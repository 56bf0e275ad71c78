import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import { mixToMono } from "./sound.ts";
import { decodeWave, openWave } from "./wav.ts";

// wav.goldens.json: nine frames of stereo noise in each encoding that libsndfile 1.2.2 writes (soundfile 0.14.0), and the floats that it reads back.
interface Golden {
  readonly name: string;
  readonly bytes: string;
  readonly sampleRate: number;
  readonly samples: string;
}
const goldens = JSON.parse(readFileSync(new URL("wav.goldens.json", import.meta.url), "utf8")) as Golden[];

interface Chunk {
  readonly name: string;
  readonly bytes: Uint8Array;
  /** The size in the header; that of the bytes if absent. */
  readonly stated?: number;
}

/** A RIFF WAVE file of chunks. */
function riff(...chunks: Chunk[]): Uint8Array {
  const parts = chunks.map(({ name, bytes, stated }) => {
    const header = Buffer.alloc(8);
    header.write(name, 0, "latin1");
    header.writeUInt32LE(stated ?? bytes.length, 4);
    return Buffer.concat([header, bytes, Buffer.alloc(bytes.length % 2)]);
  });
  const header = Buffer.from("RIFF\0\0\0\0WAVE", "latin1");
  header.writeUInt32LE(4 + Buffer.concat(parts).length, 4);
  return Uint8Array.from(Buffer.concat([header, ...parts]));
}

interface Format {
  readonly tag?: number;
  readonly channels?: number;
  readonly sampleRate?: number;
  readonly blockAlign?: number;
  readonly bits?: number;
}

function formatChunk({ tag = 1, channels = 1, sampleRate = 16_000, blockAlign = 2, bits = 16 }: Format = {}): Chunk {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16LE(tag, 0);
  bytes.writeUInt16LE(channels, 2);
  bytes.writeUInt32LE(sampleRate, 4);
  bytes.writeUInt32LE(sampleRate * blockAlign, 8);
  bytes.writeUInt16LE(blockAlign, 12);
  bytes.writeUInt16LE(bits, 14);
  return { name: "fmt ", bytes };
}

const samples: Chunk = { name: "data", bytes: Uint8Array.of(0, 0x40, 0, 0xc0, 1, 0) };

function refusal(bytes: Uint8Array, limits?: { maxBytes: number; maxSeconds: number }): InferyardError {
  try {
    decodeWave(bytes, limits);
  } catch (error) {
    if (error instanceof InferyardError) return error;
    throw error;
  }
  throw new Error("the file was decoded");
}

describe("WAVE files", () => {
  test.each(goldens)("$name is read as libsndfile reads it", ({ bytes, sampleRate, samples: expected }) => {
    const sound = decodeWave(Uint8Array.from(Buffer.from(bytes, "base64")));
    const floats = new Float32Array(Uint8Array.from(Buffer.from(expected, "base64")).buffer);
    expect(sound.sampleRate).toBe(sampleRate);
    expect(sound.channels).toBe(2);
    expect(Buffer.concat(sound.samples.map((channel) => new Uint8Array(channel.buffer)))).toEqual(Buffer.from(floats.buffer));
  });

  test("samples are read in pieces", () => {
    const wave = openWave(riff(formatChunk(), samples));
    expect(wave.frames).toBe(3);
    expect(wave.read(1, 10)).toEqual([Float32Array.of(-0.5, 1 / 32_768)]);
    expect(wave.read(3, 1)).toEqual([new Float32Array(0)]);
  });

  test("PCM of 20 bits lies in the upper bits of 3 bytes", () => {
    const bytes = riff(formatChunk({ bits: 20, blockAlign: 3 }), { name: "data", bytes: Uint8Array.of(0, 0, 0x40, 0, 0, 0x80) });
    expect(decodeWave(bytes).samples).toEqual([Float32Array.of(0.5, -1)]);
  });

  test("other chunks are skipped, with the byte that pads an odd one", () => {
    const list: Chunk = { name: "LIST", bytes: Uint8Array.of(1, 2, 3) };
    expect(decodeWave(riff(list, formatChunk(), list, samples, list)).samples[0]).toHaveLength(3);
  });

  test("the samples of a file that was written to a pipe end with the file", () => {
    expect(decodeWave(riff(formatChunk(), { ...samples, stated: 0xffff_ffff })).samples[0]).toHaveLength(3);
  });

  test.each([
    ["no file", new Uint8Array(0), "INPUT_INVALID", "'RIFF'"],
    ["another format", Uint8Array.from(Buffer.from("fLaC and more of it")), "INPUT_INVALID", "'RIFF'"],
    ["no samples", riff(formatChunk()), "INPUT_INVALID", "no chunk 'data'"],
    ["samples before their format", riff(samples, formatChunk()), "INPUT_INVALID", "before any chunk 'fmt '"],
    [
      "a truncated file",
      riff(formatChunk(), samples).subarray(0, 48),
      "INPUT_INVALID",
      "states 6 bytes of samples, and 4 are there",
    ],
    ["a data chunk larger than the file", riff(formatChunk(), { ...samples, stated: 2 ** 30 }), "INPUT_INVALID", "truncated"],
    ["another chunk larger than the file", riff({ ...samples, name: "LIST", stated: 2 ** 31 }), "INPUT_INVALID", "chunk 'LIST'"],
    ["a short format", riff({ name: "fmt ", bytes: new Uint8Array(14) }, samples), "INPUT_INVALID", "has 14 bytes"],
    ["no channels", riff(formatChunk({ channels: 0, blockAlign: 0 }), samples), "INPUT_INVALID", "0 channels"],
    ["65,535 channels", riff(formatChunk({ channels: 65_535 }), samples), "INPUT_INVALID", "65535 channels"],
    ["no sample rate", riff(formatChunk({ sampleRate: 0 }), samples), "INPUT_INVALID", "sample rate of 0 Hz"],
    ["frames that do not fit", riff(formatChunk({ blockAlign: 3 }), samples), "INPUT_INVALID", "frames of 3 bytes"],
    [
      "PCM of 64 bits",
      riff(formatChunk({ bits: 64, blockAlign: 8 }), samples),
      "MEDIA_TYPE_UNSUPPORTED",
      "PCM samples of 64 bits",
    ],
    ["ADPCM", riff(formatChunk({ tag: 2, bits: 4, blockAlign: 1 }), samples), "MEDIA_TYPE_UNSUPPORTED", "Microsoft ADPCM"],
    ["an unknown encoding", riff(formatChunk({ tag: 0x1234 }), samples), "MEDIA_TYPE_UNSUPPORTED", "0x1234"],
    ["big-endian", Uint8Array.from(Buffer.from("RIFX\0\0\0\0WAVE")), "MEDIA_TYPE_UNSUPPORTED", "RIFX"],
  ])("%s is refused", (_name, bytes, code, message) => {
    const error = refusal(bytes);
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });

  test("limits are checked before samples are decoded", () => {
    const bytes = riff(formatChunk({ sampleRate: 1000 }), { name: "data", bytes: new Uint8Array(4000) });
    expect(refusal(bytes, { maxBytes: 100, maxSeconds: 60 }).code).toBe("LIMIT_EXCEEDED");
    expect(refusal(bytes, { maxBytes: 10_000, maxSeconds: 1.5 }).message).toContain(
      "lasts 2.0 seconds, longer than the limit of 1.5",
    );
  });
});

test("channels are mixed to their mean", () => {
  expect(mixToMono([Float32Array.of(1, 0), Float32Array.of(-1, 0.5)])).toEqual(Float32Array.of(0, 0.25));
  expect(mixToMono([Float32Array.of(3), Float32Array.of(0), Float32Array.of(0)])).toEqual(Float32Array.of(1));
});
