import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Runtime, createRuntime } from "inferyard";
import { needsInstalled, problemOfInstallation } from "../fixtures/installed.ts";
import { needsData, sharedData } from "../fixtures/shared-data.ts";
import { sampled } from "../fixtures/slow.ts";
import { fetchPpOcr } from "./fixtures/ocr-packages.ts";

interface GoldenPage {
  readonly file: string;
  readonly lines: readonly { readonly text: string; readonly score: number; readonly box: readonly (readonly number[])[] }[];
}

const folder = `${sharedData}ocr-pages/`;
const [skip, name] = needsData("pages that rapidocr 3.10.0 reads with PP-OCRv6");
/** Lines that rapidocr itself is sure of are to be equal. */
const fairScore = 0.9;
/** Largest difference of a box in pixels, and of a score. */
const [boxTolerance, scoreTolerance] = [2, 0.002];

describe.skipIf(skip)(name, () => {
  let model: string;
  let runtime: Runtime;
  needsInstalled(() =>
    problemOfInstallation(async () => {
      model = await fetchPpOcr();
    }),
  );
  beforeAll(async () => (runtime = await createRuntime({ threads: 1 })));
  afterAll(() => runtime?.dispose());

  const pages = skip ? [] : (JSON.parse(readFileSync(`${folder}goldens.json`, "utf8")) as { pages: GoldenPage[] }).pages;
  const rows = ["onnx:cpu", "native:cpu", "wasm:cpu"].flatMap((target) => pages.map((page) => ({ ...page, target })));
  const isOfSample = ({ file, target }: (typeof rows)[number]): boolean =>
    file === "tiny.png" || (target === "onnx:cpu" && ["two-columns.png", "turned-4.png", "chinese.png"].includes(file));

  for (const [skips, title, some] of rows.length === 0 ? [] : sampled("$file on $target", rows, isOfSample))
    it.skipIf(skips).each(some)(title, async ({ file, target, lines }) => {
      const read = await runtime.read(folder + file, { model, target });
      expect(read.lines.length).toBe(lines.length);
      const fair = lines.flatMap((line, index) => (line.score >= fairScore ? [{ line, own: read.lines[index]! }] : []));
      expect(fair.map(({ own }) => own.text)).toEqual(fair.map(({ line }) => line.text));
      const apart = fair.flatMap(({ line, own }) =>
        line.box.flatMap((corner, index) => corner.map((value, axis) => Math.abs(value - own.box[index]![axis]!))),
      );
      expect(Math.max(...apart)).toBeLessThanOrEqual(boxTolerance);
      expect(Math.max(...fair.map(({ line, own }) => Math.abs(line.score - own.score)))).toBeLessThanOrEqual(scoreTolerance);
    });

  it.skipIf(skip)("reads two columns one after the other, if asked", async () => {
    const { lines } = await runtime.read(`${folder}two-columns.png`, { model, target: "onnx:cpu", order: "columns" });
    const middle = lines.findIndex(({ box }) => box[0][0] > 500);
    expect(middle).toBe(9);
    expect(lines.slice(middle).every(({ box }) => box[0][0] > 500)).toBe(true);
  });
});
