import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Tensor } from "../../contract/tensor.ts";
import type { PixelPoint, Quadrilateral } from "../../processors/images/geometry/points.ts";
import type { Picture } from "../../processors/images/picture.ts";
import { decodeCtc } from "./decode-ctc.ts";
import { fitPage } from "./fit-page.ts";
import { cutLine } from "./line-pictures.ts";
import { toThreeChannels } from "./page-colours.ts";
import { detectorInput, lineInput } from "./picture-tensors.ts";
import { sortBoxes } from "./reading-order.ts";
import { findTextBoxes } from "./text-regions.ts";
import { findWords } from "./word-boxes.ts";

type Size = [width: number, height: number];

/** A tensor at some of its places, and the sum of all its elements. */
interface Sampled {
  readonly shape: readonly number[];
  readonly places: readonly number[];
  readonly values: readonly number[];
  readonly sum: number;
}

/** What rapidocr 3.10.0 computes: scripts/goldens/images/rapidocr-steps.py. Pictures and tensors are base64. */
interface Goldens {
  readonly fit: readonly { page: Size; size: Size; points: PixelPoint[]; mapped: PixelPoint[]; data?: string; fitted?: string }[];
  readonly detector: Sampled & { page: Size; data: string };
  readonly regions: readonly { size: Size; map: string; page: Size; boxes: Quadrilateral[]; sorted: Quadrilateral[] }[];
  readonly crops: readonly { page: Size; data: string; box: Quadrilateral; size: Size; line: string }[];
  readonly lines: readonly { size: Size; data: string; recognizer: Sampled; classifier: Sampled }[];
  readonly dictionary: readonly string[];
  readonly ctc: readonly {
    shape: number[];
    output: string;
    text: string;
    score: number;
    box: Quadrilateral;
    size: Size;
    words: { text: string; box: Quadrilateral }[];
  }[];
  readonly colours: readonly { size: Size; data: string; opaque: string }[];
}

const goldens = JSON.parse(readFileSync(new URL("reading-goldens.json", import.meta.url), "utf8")) as Goldens;
const bytesOf = (base64: string) => new Uint8Array(Buffer.from(base64, "base64"));
const picture = ([width, height]: Size, data: string, channels: 3 | 4 = 3): Picture => ({
  width,
  height,
  channels,
  data: bytesOf(data),
});

function expectSampled(tensor: Tensor, { shape, places, values, sum }: Sampled): void {
  expect(tensor.shape.slice(1)).toEqual(shape.slice(-3));
  const data = tensor.data as Float32Array;
  expect(places.map((place) => data[place])).toEqual(values);
  expect(data.reduce((total, value) => total + value, 0)).toBeCloseTo(sum, 3);
}

describe("steps as rapidocr computes them, bit for bit", () => {
  test.each(goldens.fit)("a page of $page pixels is fitted to $size", ({ page, size, points, mapped, data, fitted }) => {
    const given =
      data === undefined ? { ...picture(page, ""), data: new Uint8Array(3 * page[0] * page[1]) } : picture(page, data);
    const fit = fitPage(given);
    expect([fit.picture.width, fit.picture.height]).toEqual(size);
    expect(points.map((point) => fit.toPage(point))).toEqual(mapped);
    expect(fitted === undefined ? undefined : fit.picture.data).toEqual(fitted === undefined ? undefined : bytesOf(fitted));
  });

  test("the detector's input", () => {
    const { page, data, ...expected } = goldens.detector;
    expectSampled(detectorInput(picture(page, data)), expected);
  });

  test.each(goldens.regions)(
    "boxes in a map of $size for a page of $page",
    ({ size: [width, height], map, page, boxes, sorted }) => {
      const data = Float32Array.from(bytesOf(map), (value) => Math.fround(value / 255));
      const found = findTextBoxes({ data, width, height }, { width: page[0], height: page[1] });
      expect(found).toEqual(boxes);
      expect(sortBoxes(found, "lines")).toEqual(sorted);
    },
  );

  test.each(goldens.crops)("the line $box as a picture of $size", ({ page, data, box, size, line }) => {
    const cut = cutLine(picture(page, data), box);
    expect([cut?.picture.width, cut?.picture.height]).toEqual(size);
    expect(cut?.picture.data).toEqual(bytesOf(line));
  });

  test.each(goldens.lines)(
    "the inputs of classifier and recognizer for a line of $size",
    ({ size, data, recognizer, classifier }) => {
      const line = picture(size, data);
      expectSampled(lineInput([line], 48, recognizer.shape[2]!), recognizer);
      expectSampled(lineInput([line], 48, 192), classifier);
    },
  );

  test.each(goldens.ctc)("the text $text with its words", ({ shape, output, text, score, box, size, words }) => {
    const data = new Float32Array(bytesOf(output).buffer);
    const [line] = decodeCtc({ dataType: "float32", shape, data }, goldens.dictionary);
    expect(line).toMatchObject({ text, score });
    const [width, height] = size;
    const found = findWords(line!, { box, width, height, filled: width / height / (320 / 48), turned: false, upsideDown: false });
    expect(found.map(({ text: word }) => word)).toEqual(words.map(({ text: word }) => word));
    expect(found.map((word) => word.box)).toEqual(words.map((word) => word.box));
  });

  test.each(goldens.colours)("a transparent picture of $size over white or black", ({ size, data, opaque }) => {
    expect(toThreeChannels(picture(size, data, 4)).data).toEqual(bytesOf(opaque));
  });
});

test("grey pages become red, green and blue", () => {
  const grey: Picture = { width: 2, height: 1, channels: 1, data: Uint8Array.of(7, 9) };
  expect([...toThreeChannels(grey).data]).toEqual([7, 7, 7, 9, 9, 9]);
});

describe("what cannot be read", () => {
  test("a page of which nothing is left when its longer side is shortened", () => {
    const narrow: Picture = { width: 5000, height: 20, channels: 3, data: new Uint8Array(300_000) };
    expect(() => fitPage(narrow)).toThrow("a page of 5000 x 20 pixels is too narrow");
  });

  test("a box without an area", () => {
    const page = picture([50, 36], goldens.crops[0]!.data);
    expect(cutLine(page, [[3, 3], [3, 3], [3, 3], [3, 3]])).toBeUndefined(); // prettier-ignore
    expect(cutLine(page, [[3, 3], [30, 3], [20, 3], [10, 3]])).toBeUndefined(); // prettier-ignore
  });

  test("an output without classes, or with one that the dictionary does not have", () => {
    const output = (shape: number[]): Tensor => ({ dataType: "float32", shape, data: Float32Array.of(0, 0, 0, 1) });
    expect(() => decodeCtc(output([2, 2]), ["a"])).toThrow("not float32 [lines, steps, classes]");
    expect(() => decodeCtc(output([1, 1, 4]), ["a"])).toThrow("the class 3; its dictionary has 1 characters");
  });

  test("a narrow page is enlarged to 8 megapixels at most", () => {
    const { shape } = detectorInput({ width: 32, height: 2000, channels: 3, data: new Uint8Array(192_000) });
    expect(shape[2]! * shape[3]!).toBeLessThan(8.5e6);
  });
});
