import fc from "fast-check";
import sharp from "sharp";
import { describe, expect, it } from "vitest";
import { readEncodedSize } from "./picture-size.ts";

const picture = sharp({ create: { width: 67, height: 29, channels: 4, background: { r: 1, g: 200, b: 3, alpha: 0.5 } } });
const size = { width: 67, height: 29 };

describe("the size of an encoded picture", () => {
  it.each([
    ["png", () => picture.png()],
    ["gif", () => picture.gif()],
    ["jpeg", () => picture.jpeg()],
    ["progressive jpeg", () => picture.jpeg({ progressive: true })],
    ["jpeg with exif", () => picture.jpeg().withMetadata({ orientation: 6 })],
    ["webp with alpha", () => picture.webp()],
    ["webp", () => picture.clone().removeAlpha().webp()],
    ["lossless webp", () => picture.clone().removeAlpha().webp({ lossless: true })],
    ["avif", () => picture.avif()],
  ])("of %s", async (_name, encode) => {
    const bytes = new Uint8Array(await encode().toBuffer());
    expect(readEncodedSize(bytes)).toEqual(size);
    for (const length of [0, 1, 9, 20]) expect(() => readEncodedSize(bytes.subarray(0, length))).not.toThrow();
  });

  it("is undefined for other bytes, and never an error", () => {
    const heads = [
      [0xff, 0xd8],
      [0x89, 0x50, 0x4e, 0x47],
      [0x52, 0x49, 0x46, 0x46, 0, 0, 0, 0, 0x57, 0x45, 0x42, 0x50],
    ];
    expect(() =>
      fc.assert(
        fc.property(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 60 }), (head, bytes) => {
          readEncodedSize(Uint8Array.of(...head, ...bytes));
          expect(readEncodedSize(Uint8Array.of(0x20, 0x20, ...bytes.fill(0x20)))).toBeUndefined();
        }),
      ),
    ).not.toThrow();
  });
});
