import { describe, expect, it } from "vitest";
import { decodeWave } from "./wav.ts";
import { readWaveHeader, readWaveSamples } from "./wav-stream.ts";

/** A WAVE file of 16-bit PCM at 8 kHz, with a chunk before its samples and one behind them. */
function file({ channels = 2, frames = 100, size }: { channels?: number; frames?: number; size?: number } = {}): Uint8Array {
  const bytes = Buffer.alloc(12 + 24 + 10 + 8 + channels * frames * 2 + 12);
  bytes.write("RIFF", 0, "latin1");
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write("WAVEfmt ", 8, "latin1");
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(channels, 22);
  bytes.writeUInt32LE(8000, 24);
  bytes.writeUInt32LE(8000 * channels * 2, 28);
  bytes.writeUInt16LE(channels * 2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write("note", 36, "latin1");
  bytes.writeUInt32LE(1, 40); // of one byte, which is padded to two
  bytes.write("data", 46, "latin1");
  bytes.writeUInt32LE(size ?? channels * frames * 2, 50);
  for (let index = 0; index < channels * frames; index += 1)
    bytes.writeInt16LE(((index * 7919) % 65_536) - 32_768, 54 + index * 2);
  bytes.write("LIST", 54 + channels * frames * 2, "latin1");
  return new Uint8Array(bytes);
}

async function readAll(bytes: Uint8Array, length: number): Promise<number[]> {
  const header = readWaveHeader(bytes)!;
  async function* parts(): AsyncGenerator<Uint8Array> {
    for (let at = header.offset; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
  }
  const all: number[] = [];
  for await (const samples of readWaveSamples(header, parts())) all.push(...samples);
  return all;
}

describe("a WAVE file that comes in", () => {
  it("has the samples of the whole file, however it is split, and nothing of the chunks behind them", async () => {
    const bytes = file();
    const [left, right] = decodeWave(bytes).samples;
    const mixed = Array.from(left!, (sample, index) => Math.fround((sample + right![index]!) * 0.5));
    for (const length of [1, 3, 64, 1000]) expect(await readAll(bytes, length)).toEqual(mixed);
  });

  it("has a header once all of it is there", () => {
    const bytes = file({ channels: 1 });
    for (let length = 12; length < 54; length += 1) expect(readWaveHeader(bytes.subarray(0, length))).toBeUndefined();
    expect(readWaveHeader(bytes.subarray(0, 54))).toMatchObject({ sampleRate: 8000, offset: 54, bytes: 200 });
  });

  it.each([0, 0x7fff_f000, 0xffff_ffff])("goes on to its end where the header states %i bytes", async (size) => {
    const bytes = file({ channels: 1, size }).subarray(0, 54 + 200);
    expect(readWaveHeader(bytes)?.bytes).toBeUndefined();
    expect(await readAll(bytes, 64)).toHaveLength(100);
  });

  it("is refused where its samples begin too late, or without a format", () => {
    const late = file();
    new DataView(late.buffer).setUint32(40, 2 ** 30, true);
    expect(() => readWaveHeader(late)).toThrow("do not begin within");
    const without = file();
    without.set(Buffer.from("junk"), 12);
    expect(() => readWaveHeader(without)).toThrow("before any chunk 'fmt '");
  });
});
