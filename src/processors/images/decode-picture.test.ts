import { readFileSync } from "node:fs";
import sharp from "sharp";
import { describe, expect, test } from "vitest";
import { InferyardError } from "../../contract/errors.ts";
import { decodePicture, defaultPictureLimits } from "./decode-picture.ts";

/** One picture as Pillow encodes and decodes it: scripts/goldens/images/decode-pictures.py. Binary fields are base64. */
interface Golden {
  readonly name: string;
  readonly width: number;
  readonly height: number;
  readonly file: string;
  readonly rgb: string;
  readonly overWhite: string;
  readonly rgba: string;
  readonly grey: string;
}

const goldens = JSON.parse(readFileSync(new URL("decode-goldens.json", import.meta.url), "utf8")) as Golden[];
const bytesOf = (base64: string) => new Uint8Array(Buffer.from(base64, "base64"));

function largestDifference(actual: Uint8Array, expected: Uint8Array): number {
  expect(actual.length).toBe(expected.length);
  return actual.reduce((largest, sample, index) => Math.max(largest, Math.abs(sample - expected[index]!)), 0);
}

describe("decodePicture against Pillow", () => {
  // AV1 pictures: the conversion of YUV to RGB rounds differently in libheif. Transparent pixels of GIF have no colour in libvips.
  const tolerance = (name: string) => (name.endsWith(".avif") ? 2 : 0);
  test.each(goldens)("$name", async ({ name, width, height, file, rgb, overWhite, rgba, grey }) => {
    const bytes = bytesOf(file);
    const over = await decodePicture(bytes);
    expect([over.width, over.height, over.channels]).toEqual([width, height, 3]);
    expect(largestDifference(over.data, bytesOf(overWhite))).toBeLessThanOrEqual(tolerance(name));
    if (name === "transparent.gif") return;
    const dropped = await decodePicture(bytes, defaultPictureLimits, { background: "none" });
    expect(largestDifference(dropped.data, bytesOf(rgb))).toBeLessThanOrEqual(tolerance(name));
    const four = await decodePicture(bytes, defaultPictureLimits, { channels: 4 });
    expect(largestDifference(four.data, bytesOf(rgba))).toBeLessThanOrEqual(tolerance(name));
    const one = await decodePicture(bytes, defaultPictureLimits, { channels: 1, background: "none" });
    expect(largestDifference(one.data, bytesOf(grey))).toBeLessThanOrEqual(tolerance(name));
  });
});

test("a background colour shows through transparent pixels", async () => {
  const clear = await sharp({ create: { width: 2, height: 1, channels: 4, background: { r: 9, g: 9, b: 9, alpha: 0 } } })
    .png()
    .toBuffer();
  const { data } = await decodePicture(clear, defaultPictureLimits, { background: [10, 200, 30] });
  expect([...data]).toEqual([10, 200, 30, 10, 200, 30]);
});

test("orient: false leaves a turned picture as it is encoded", async () => {
  const turned = bytesOf(goldens.find(({ name }) => name === "orientation-6.jpg")!.file);
  const { width, height } = await decodePicture(turned, defaultPictureLimits, { orient: false });
  expect([width, height]).toEqual([13, 9]);
});

describe("what is no picture", () => {
  const text = (value: string) => new TextEncoder().encode(value);
  test.each([
    ["SVG", text('<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>'), "MEDIA_TYPE_UNSUPPORTED"],
    ["SVG after a declaration", text('\uFEFF  <?xml version="1.0"?><svg/>'), "MEDIA_TYPE_UNSUPPORTED"],
    ["compressed SVG", Uint8Array.of(0x1f, 0x8b, 8, 0), "MEDIA_TYPE_UNSUPPORTED"],
    ["PDF", text("%PDF-1.7"), "MEDIA_TYPE_UNSUPPORTED"],
    ["text", text("hello"), "MEDIA_TYPE_UNSUPPORTED"],
    ["HEIC", text("\0\0\0\x18ftypheic\0\0\0\0mif1heic"), "MEDIA_TYPE_UNSUPPORTED"],
    ["nothing", new Uint8Array(0), "INPUT_INVALID"],
    ["a signature alone", text("GIF89a"), "INPUT_INVALID"],
  ])("%s is refused", async (_, bytes, code) => {
    await expect(decodePicture(bytes)).rejects.toMatchObject({ code });
  });

  test.each(goldens.filter(({ name }) => !name.startsWith("orientation")))("$name cut in half is refused", async ({ file }) => {
    const bytes = bytesOf(file);
    await expect(decodePicture(bytes.subarray(0, bytes.length / 2))).rejects.toMatchObject({ code: "INPUT_INVALID" });
  });

  test("changed bytes end in a picture or an error with a code", async () => {
    let state = 7;
    const random = (below: number) => (state = (state * 48271) % 0x7fffffff) % below;
    const outcomes = new Set<string>();
    for (let round = 0; round < 200; round++) {
      const bytes = bytesOf(goldens[random(goldens.length)]!.file);
      for (let change = 0; change < 3; change++) bytes[random(bytes.length)] = random(256);
      const codeOf = (error: unknown) => (error instanceof InferyardError ? error.code : String(error));
      outcomes.add(await decodePicture(bytes, { ...defaultPictureLimits, maxPixels: 100_000 }).then(() => "picture", codeOf));
    }
    const allowed = new Set(["picture", "INPUT_INVALID", "LIMIT_EXCEEDED", "MEDIA_TYPE_UNSUPPORTED"]);
    expect([...outcomes].filter((outcome) => !allowed.has(outcome))).toEqual([]);
  });
});

describe("limits", () => {
  const large = (width: number, height: number) =>
    sharp({ create: { width, height, channels: 3, background: "red" } })
      .png()
      .toBuffer();
  test("bytes, pixels and the longer side are checked before pixels are decoded", async () => {
    const picture = await large(300, 20);
    const limited = async (limits: object) => await decodePicture(picture, { ...defaultPictureLimits, ...limits });
    await expect(limited({ maxBytes: picture.length - 1 })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      data: { limit: picture.length - 1 },
    });
    await expect(limited({ maxPixels: 5999 })).rejects.toMatchObject({
      code: "LIMIT_EXCEEDED",
      data: { value: 6000, limit: 5999 },
    });
    await expect(limited({ maxSide: 299 })).rejects.toMatchObject({ code: "LIMIT_EXCEEDED", data: { value: 300, limit: 299 } });
    expect((await limited({ maxPixels: 6000, maxSide: 300, maxBytes: picture.length })).width).toBe(300);
  });

  test("a picture of 100,000 pixels in a row, and one of 2,500 megapixels, are refused by their headers", async () => {
    await expect(decodePicture(await large(100_000, 1))).rejects.toMatchObject({ code: "LIMIT_EXCEEDED" });
    const bomb = await large(1, 1);
    bomb.writeUInt32BE(30_000, 16);
    bomb.writeUInt32BE(30_000, 20);
    await expect(decodePicture(bomb)).rejects.toMatchObject({
      code: expect.stringMatching(/LIMIT_EXCEEDED|INPUT_INVALID/) as string,
    });
  });
});

test("without sharp the error names the command that installs it", async () => {
  const missing = async () =>
    await Promise.reject(Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" }));
  const picture = bytesOf(goldens[0]!.file);
  await expect(decodePicture(picture, defaultPictureLimits, { importer: missing })).rejects.toMatchObject({
    code: "BACKEND_UNAVAILABLE",
    remedy: "npm install sharp",
  });
});
