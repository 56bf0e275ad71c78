import { describe, expect, test } from "vitest";
import type { Tensor, TensorMap } from "../../contract/tensor.ts";
import type { Picture } from "../../processors/images/picture.ts";
import type { LoadedGraph } from "../definition/media-task.ts";
import { formatHocr } from "./hocr.ts";
import { type PageReader, readPage } from "./read-page.ts";

/** A graph that answers each input with what `answer` makes of it. */
function graph(answer: (input: Tensor) => Tensor): LoadedGraph & { readonly shapes: (readonly number[])[] } {
  const shapes: (readonly number[])[] = [];
  const info = (name: string) => [{ name, dataType: "float32", shape: [] }] as const;
  const run = async ({ x }: TensorMap): Promise<TensorMap> => {
    shapes.push(x!.shape);
    return { y: answer(x!) };
  };
  return { inputs: info("x"), outputs: info("y"), run, shapes };
}

/** Boxes of text on a page of 736 x 736 pixels, which the detector sees as it is: columns, rows, sizes. */
const boxes = [
  [40, 40, 250, 20],
  [400, 44, 250, 20],
  [40, 90, 240, 20],
  [400, 94, 240, 20],
] as const;
const page: Picture = { width: 736, height: 736, channels: 3, data: new Uint8Array(3 * 736 * 736) };

/** Marks the page at each box with a shade, by which the recognizer below knows the line. */
boxes.forEach(([left, top, width, height], index) => {
  for (let y = top; y < top + height; y++) page.data.fill(60 * (index + 1), 3 * (736 * y + left), 3 * (736 * y + left + width));
});

const detector = () =>
  graph(({ shape: [, , height = 0, width = 0] }) => {
    const data = new Float32Array(height * width);
    for (const [left, top, boxWidth, boxHeight] of boxes)
      for (let y = top + 5; y < top + boxHeight - 5; y++) data.fill(0.9, y * width + left + 5, y * width + left + boxWidth - 5);
    return { dataType: "float32", shape: [1, 1, height, width], data };
  });

/** Reads a line as its number, "a" to "d", with a probability that falls from line to line. */
const recognizer = () =>
  graph(({ shape: [lines = 0, , height = 0, width = 0], data }) => {
    const output = new Float32Array(lines * 4 * 6);
    for (let line = 0; line < lines; line++) {
      const middle = (data as Float32Array)[line * 3 * height * width + (height / 2) * width + 60]!;
      const shade = Math.round(((middle / 2 + 0.5) * 255) / 60);
      output[line * 24] = 1; // a blank
      output[line * 24 + 6 + shade] = 1 - shade / 10;
      output[line * 24 + 12 + shade] = 1 - shade / 10; // the same character goes on
      output[line * 24 + 18] = 1;
    }
    return { dataType: "float32", shape: [lines, 4, 6], data: output };
  });

const dictionary = ["a", "b", "c", "d"];
const texts = async (reader: PageReader, options: Parameters<typeof readPage>[2]) =>
  (await readPage(reader, page, options)).lines.map(({ text }) => text).join("");

describe("readPage", () => {
  test("finds lines, reads them in batches of similar shape, and gives their boxes on the page", async () => {
    const [found, read] = [detector(), recognizer()];
    const { lines, width, height } = await readPage({ detector: found, recognizer: read, dictionary }, page);
    expect([width, height]).toEqual([736, 736]);
    expect(lines.map(({ text, score }) => [text, score])).toEqual([["a", 0.9], ["b", 0.8], ["c", 0.7], ["d", 0.6]]); // prettier-ignore
    expect(lines[0]!.box[0][0]).toBeGreaterThan(30);
    expect(lines[0]!.box[2][1]).toBeLessThan(70);
    expect(lines.every(({ words }) => words === undefined)).toBe(true);
    expect(found.shapes).toEqual([[1, 3, 736, 736]]);
    expect(read.shapes.map(([count]) => count)).toEqual([4]);
  });

  test("order: columns reads the left column first", async () => {
    const reader = { detector: detector(), recognizer: recognizer(), dictionary };
    expect(await texts(reader, { order: "lines" })).toBe("abcd");
    expect(await texts(reader, { order: "columns" })).toBe("acbd");
  });

  test("minScore leaves lines out", async () => {
    expect(await texts({ detector: detector(), recognizer: recognizer(), dictionary }, { minScore: 0.75 })).toBe("ab");
  });

  test("words gives each line its words", async () => {
    const { lines } = await readPage({ detector: detector(), recognizer: recognizer(), dictionary }, page, { words: true });
    expect(lines[0]!.words).toMatchObject([{ text: "a", score: 0.9 }]);
  });

  test("a classifier turns lines that are upside down", async () => {
    const turned = graph(({ shape: [lines = 0] }) => ({
      dataType: "float32",
      shape: [lines, 2],
      data: Float32Array.from({ length: 2 * lines }, (_, index) => (index % 2 === 0 ? 0.05 : 0.95)),
    }));
    const seen: number[] = [];
    const marked: Picture = { ...page, data: page.data.slice() };
    for (let y = 40; y < 60; y++) marked.data.fill(255, 3 * (736 * y + 40), 3 * (736 * y + 80)); // the left end of the first line
    const reader = graph(({ shape: [lines = 0, , height = 0, width = 0], data }) => {
      const start = (height / 2) * width;
      for (let line = 0; line < lines; line++) seen.push((data as Float32Array)[line * 3 * height * width + start + 30]!);
      return { dataType: "float32", shape: [lines, 1, 6], data: new Float32Array(6 * lines) };
    });
    await readPage({ detector: detector(), recognizer: reader, dictionary }, marked);
    await readPage({ detector: detector(), recognizer: reader, classifier: turned, dictionary }, marked);
    expect(seen.filter((value) => value > 0.9)).toHaveLength(1); // its left end is white where nothing is turned alone
    expect(turned.shapes.map((shape) => shape.slice(1))).toEqual([[3, 48, 192]]);
  });

  test("an empty page has no lines", async () => {
    const nothing = graph(({ shape: [, , height = 0, width = 0] }) => ({
      dataType: "float32",
      shape: [1, 1, height, width],
      data: new Float32Array(height * width),
    }));
    expect((await readPage({ detector: nothing, recognizer: recognizer(), dictionary }, page)).lines).toEqual([]);
  });

  test("networks with other outputs, options that are not allowed and an aborted call", async () => {
    const other = graph(() => ({ dataType: "float32", shape: [1, 2], data: new Float32Array(2) }));
    const reader = { detector: detector(), recognizer: recognizer(), dictionary };
    await expect(readPage({ ...reader, detector: other }, page)).rejects.toThrow("the detector gives float32 [1, 2]");
    await expect(readPage({ ...reader, recognizer: other }, page)).rejects.toThrow("the recognizer gives float32 [1, 2]");
    const three = graph(() => ({ dataType: "float32", shape: [4, 3], data: new Float32Array(12) }));
    await expect(readPage({ ...reader, classifier: three }, page)).rejects.toThrow("the classifier gives float32 [4, 3]");
    await expect(readPage(reader, page, { order: "rows" as "lines" })).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(readPage(reader, page, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "ABORTED" });
  });
});

test("hOCR has pages, lines and words with upright boxes, and escapes texts", () => {
  const box = [[10.4, 20], [30, 21], [30, 40.2], [9, 40]] as const; // prettier-ignore
  const lines = [{ text: "a <b>", score: 0.987, box, words: [{ text: "a", score: 1, box }, { text: "<b>", score: 0.5, box }] }]; // prettier-ignore
  const document = formatHocr([{ name: 'a "page".png', width: 100, height: 50, lines }], "inferyard ppocr");
  expect(document).toContain('<meta name="ocr-system" content="inferyard ppocr">');
  expect(document).toContain('title="image &quot;a \\&quot;page\\&quot;.png&quot;; bbox 0 0 100 50; ppageno 0"');
  expect(document).toContain('<span class="ocr_line" id="line_1_1" title="bbox 9 20 30 41; x_wconf 99">');
  expect(document).toContain('<span class="ocrx_word" id="word_1_1_2" title="bbox 9 20 30 41; x_wconf 50">&lt;b&gt;</span>');
  expect(formatHocr([{ name: "x", width: 1, height: 1, lines: [{ text: "a&b", score: 1, box }] }], "s")).toContain(
    ">a&amp;b</span>",
  );
});
