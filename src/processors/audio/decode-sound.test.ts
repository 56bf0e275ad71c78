import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import { decodeMonoSound, decodeSound, toMono } from "./decode-sound.ts";
import { defaultSoundLimits } from "./sound.ts";

/** Sounds of an eighth of a second, and what libsndfile reads: scripts/goldens/sound/decode-sound.py. Binary fields are base64. */
const goldens = JSON.parse(readFileSync(new URL("decode-sound.goldens.json", import.meta.url), "utf8")) as {
  cases: { name: string; sampleRate: number; channels: number; frames: number; file: string; first: string }[];
  unread: Record<string, string>;
};

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(Buffer.from(base64, "base64"));
const fileOf = (name: string): Uint8Array => bytesOf(goldens.cases.find((golden) => golden.name === name)!.file);

/** Largest difference from libsndfile: none where nothing is lost, the last bits of 32-bit floats in MP3 and Vorbis, versions of libopus. */
const bounds: Record<string, number> = { MP3: 1e-6, "MP3 of two channels": 1e-6, "Ogg Vorbis": 1e-6, "Ogg Opus": 1e-4 };

/** The decoder of MP3 has two channels whatever the file has. */
const channelsOf = ({ name, channels }: { name: string; channels: number }): number => (name.startsWith("MP3") ? 2 : channels);

// The decoders of MP3, FLAC and Opus write what they find wrong to the console.
beforeAll(() => void vi.spyOn(console, "error").mockReturnValue(undefined));
afterAll(() => void vi.restoreAllMocks());

async function codeOf(decoding: Promise<unknown>): Promise<string> {
  return decoding.then(
    () => "sound",
    (error: unknown) => (error instanceof InferyardError ? error.code : String(error)),
  );
}

describe("decoding", () => {
  test.each(goldens.cases)("$name is read as libsndfile reads it", async (golden) => {
    const { sampleRate, channels, samples } = await decodeSound(bytesOf(golden.file));
    expect([sampleRate, channels, samples[0]!.length]).toEqual([golden.sampleRate, channelsOf(golden), golden.frames]);
    const first = new Float32Array(bytesOf(golden.first).buffer);
    const difference = first.reduce((max, value, index) => Math.max(max, Math.abs(value - samples[0]![index]!)), 0);
    expect(difference).toBeLessThanOrEqual(bounds[golden.name] ?? 0);
  });

  test.each(goldens.cases)("$name is mixed and resampled as the whole sound is", async ({ file }) => {
    const mono = await decodeMonoSound(bytesOf(file), 16_000);
    const whole = await toMono(await decodeSound(bytesOf(file)), 16_000);
    expect(mono).toEqual(whole);
    expect(mono).toHaveLength(2000);
  });

  test.each(["Ogg Vorbis", "Ogg Opus"])("%s: streams one after the other are decoded to their ends", async (name) => {
    const file = fileOf(name);
    const one = await decodeSound(file);
    const chained = await decodeSound(Uint8Array.from([...file, ...file, ...file]));
    const length = one.samples[0]!.length;
    expect(chained.samples[0]).toHaveLength(3 * length);
    for (const link of [0, 1, 2]) expect(chained.samples[0]!.slice(link * length, (link + 1) * length)).toEqual(one.samples[0]);
    const other = fileOf(name === "Ogg Opus" ? "Ogg Vorbis" : "Ogg Opus");
    await expect(decodeSound(Uint8Array.from([...file, ...other]))).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  test("decoders write nothing to the console about damaged files", async () => {
    for (const { file } of goldens.cases) {
      const bytes = bytesOf(file);
      bytes.fill(0x55, bytes.length / 2, bytes.length / 2 + 40);
      await codeOf(decodeSound(bytes));
    }
    expect(console.error).not.toHaveBeenCalled();
  });

  test("a tag of ID3 before a file is skipped", async () => {
    const tag = Uint8Array.from([...Buffer.from("ID3"), 4, 0, 0, 0, 0, 1, 0, ...new Uint8Array(128)]);
    const sound = await decodeSound(Uint8Array.from([...tag, ...fileOf("MP3")]));
    expect(sound.sampleRate).toBe(8000);
  });
});

describe("what is no sound", () => {
  test.each(Object.entries(goldens.unread))("%s is refused with its name and the way, without node-av", async (name, file) => {
    const absent = async (): Promise<never> => await Promise.reject(new Error("Cannot find package 'node-av'"));
    await expect(decodeSound(bytesOf(file), { load: absent })).rejects.toMatchObject({
      code: "MEDIA_TYPE_UNSUPPORTED",
      message: expect.stringContaining(name) as string,
      remedy: expect.stringContaining("npm install node-av") as string,
    });
  });

  test("an absent decoder is named with the command that installs it", async () => {
    const absent = async (): Promise<never> => await Promise.reject(new Error("Cannot find package"));
    await expect(decodeSound(fileOf("Ogg Opus"), { load: absent })).rejects.toMatchObject({
      code: "BACKEND_UNAVAILABLE",
      remedy: "npm install ogg-opus-decoder",
    });
  });

  test.each([
    ["nothing", new Uint8Array(0), "MEDIA_TYPE_UNSUPPORTED"],
    ["text", Buffer.from("hello, this is no sound"), "MEDIA_TYPE_UNSUPPORTED"],
    ["a picture", Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), "MEDIA_TYPE_UNSUPPORTED"],
    ["an Ogg stream of Theora", Buffer.from(`OggS${"\0".repeat(22)}\x01\x2a\x80theora`, "latin1"), "MEDIA_TYPE_UNSUPPORTED"],
    ["a tag without sound", Buffer.from(`ID3\x04\0\0\0\0\0\x04abcd`, "latin1"), "INPUT_INVALID"],
    ["a header of FLAC", Buffer.from("fLaC\0\0\0\x22", "latin1"), "INPUT_INVALID"],
  ])("%s is refused", async (_name, bytes, code) => {
    expect(await codeOf(decodeSound(bytes))).toBe(code);
  });

  test.each(goldens.cases.filter(({ name }) => !name.startsWith("MP3")))(
    "$name that is truncated is refused",
    async ({ file }) => {
      const bytes = bytesOf(file);
      const codes = [0.3, 0.5, 0.95].map((part) => codeOf(decodeSound(bytes.subarray(0, bytes.length * part))));
      expect(await Promise.all(codes)).toEqual(["INPUT_INVALID", "INPUT_INVALID", "INPUT_INVALID"]);
    },
  );
});

describe("limits", () => {
  test("bytes are checked first", async () => {
    expect(await codeOf(decodeSound(fileOf("MP3"), { limits: { ...defaultSoundLimits, maxBytes: 100 } }))).toBe("LIMIT_EXCEEDED");
  });

  test.each(goldens.cases)("$name that is too long is refused", async ({ file }) => {
    expect(await codeOf(decodeSound(bytesOf(file), { limits: { ...defaultSoundLimits, maxSeconds: 0.1 } }))).toBe(
      "LIMIT_EXCEEDED",
    );
  });

  test("a header of FLAC that states 19 hours is refused before anything is decoded", async () => {
    const bytes = fileOf("FLAC of 16 bits");
    bytes.set(
      [0x0f, 0xff, 0xff, 0xff, 0xff].map((byte, index) => (index === 0 ? bytes[21]! & 0xf0 : byte)),
      21,
    );
    expect(await codeOf(decodeSound(bytes))).toBe("LIMIT_EXCEEDED");
  });

  test("an aborted signal ends decoding", async () => {
    await expect(decodeSound(fileOf("WAVE"), { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
  });
});

test("changed bytes end in sound or an error with a code", async () => {
  let state = 7;
  const random = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below;
  const outcomes = new Set<string>();
  for (let round = 0; round < 40; round++) {
    const bytes = bytesOf(goldens.cases[random(goldens.cases.length)]!.file);
    for (let change = 0; change <= random(4); change++) bytes[random(random(2) === 0 ? 100 : bytes.length)] = random(256);
    const end = random(4) === 0 ? random(bytes.length) : bytes.length;
    outcomes.add(await codeOf(decodeMonoSound(bytes.subarray(0, end), 16_000, { limits: { maxBytes: 1e6, maxSeconds: 10 } })));
  }
  const allowed = new Set(["sound", "INPUT_INVALID", "LIMIT_EXCEEDED", "MEDIA_TYPE_UNSUPPORTED"]);
  expect([...outcomes].filter((outcome) => !allowed.has(outcome))).toEqual([]);
});
