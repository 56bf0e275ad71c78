/** Reads the lines of a page with PP-OCR's networks: detection, direction of lines, recognition. The steps and their numbers are those of rapidocr 3.10. */
import { at } from "../../contract/checked.ts";
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import type { Tensor } from "../../contract/tensor.ts";
import type { Quadrilateral } from "../../processors/images/geometry/points.ts";
import { turnHalf } from "../../processors/images/geometry/turn-picture.ts";
import type { Picture } from "../../processors/images/picture.ts";
import { checkOptions } from "../../runtime/options/option.ts";
import type { LoadedGraph } from "../definition/media-task.ts";
import { createYielder } from "../encoding/yielding.ts";
import { type RecognizedLine, decodeCtc } from "./decode-ctc.ts";
import { type FittedPage, fitPage } from "./fit-page.ts";
import { type LinePicture, cutLine } from "./line-pictures.ts";
import { detectorInput, lineInput } from "./picture-tensors.ts";
import { type ReadPageOptions, defaultMinScore, readPageOptions } from "./read-options.ts";
import { sortBoxes } from "./reading-order.ts";
import type { ReadFieldValue } from "./token-fields.ts";
import { findTextBoxes } from "./text-regions.ts";
import { type ReadWord, findWords } from "./word-boxes.ts";

/** The networks of a page reader. */
export interface PageReader {
  /** Picture `[1, 3, height, width]` to probabilities of text `[1, 1, height, width]`. */
  readonly detector: LoadedGraph;
  /** Lines `[lines, 3, 48, width]` to probabilities `[lines, steps, classes]`. */
  readonly recognizer: LoadedGraph;
  /** Lines `[lines, 3, 48, 192]` to probabilities of upright and upside down, `[lines, 2]`. Absent: no line is turned by a half. */
  readonly classifier?: LoadedGraph | undefined;
  /** Characters of the recognizer's classes from 1. */
  readonly dictionary: readonly string[];
}

/** A line of a page. */
export interface ReadLine {
  readonly text: string;
  /** Mean probability of its characters, from 0 to 1. */
  readonly score: number;
  /** Corners `[x, y]` in pixels of the page, clockwise from the upper left. */
  readonly box: Quadrilateral;
  /** Its words from left to right, if they were asked for. */
  readonly words?: readonly ReadWord[];
}

/** What was read on a page. */
export interface ReadPage {
  /** Lines in the order of reading. */
  readonly lines: readonly ReadLine[];
  /** Fields of the page, with a model that reads fields (Donut). */
  readonly fields?: ReadFieldValue;
  /** Size of the page in pixels. */
  readonly width: number;
  readonly height: number;
}

/** Lines that classifier and recognizer take at once. */
const batchLines = 6;
/** Height of lines, and width of the classifier's input. */
const [lineHeight, classifierWidth] = [48, 192];
/** Width over height of the recognizer's input, at least. */
const minRecognizerRatio = 320 / 48;
/** Probability above which a line is turned by a half. */
const turnThreshold = 0.9;

/** A line cut out of the page, before it is read. */
interface FoundLine extends LinePicture {
  readonly box: Quadrilateral;
  /** Whether the classifier turned it by a half. */
  readonly upsideDown: boolean;
}

/**
 * Reads a page of three channels. Throws INPUT_INVALID for options that are not allowed and for a page that is too narrow, and MODEL_UNSUPPORTED for networks with
 * other outputs.
 */
export async function readPage(reader: PageReader, page: Picture, options: ReadPageOptions = {}): Promise<ReadPage> {
  checkOptions(readPageOptions, options);
  const { order = "lines", minScore = defaultMinScore, words = false, signal } = options;
  const fitted = fitPage(page);
  const { picture } = fitted;
  const map = await runGraph(reader.detector, detectorInput(picture), signal);
  const [, , height = 0, width = 0] = map.shape;
  if (!(map.data instanceof Float32Array) || map.data.length !== width * height)
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `the detector gives ${map.dataType} [${map.shape.join(", ")}], not float32 [1, 1, height, width]`,
    );
  const boxes = sortBoxes(findTextBoxes({ data: map.data, width, height }, picture), order);
  const yielded = createYielder();
  const found: FoundLine[] = [];
  for (const box of boxes) {
    await yielded();
    throwIfAborted(signal);
    const line = cutLine(picture, box);
    if (line !== undefined) found.push({ ...line, box, upsideDown: false });
  }
  const upright = reader.classifier === undefined ? found : await turnUpright(reader.classifier, found, signal);
  const recognized = await recognizeLines(reader, upright, signal);
  const lines = recognized.flatMap((line, index): ReadLine[] => {
    if (line.text.trim() === "" || line.score < minScore) return [];
    const source = at(upright, index);
    const box = onPage(source.box, fitted);
    const { text, score } = line;
    return [{ text, score, box, ...(words ? { words: findWords(line, layout(line, source, box, fitted)) } : {}) }];
  });
  return { lines, width: page.width, height: page.height };
}

/** A line with the ratio of its input, width over height. */
interface RatedLine extends RecognizedLine {
  readonly inputRatio: number;
}

/** Reads lines in batches of similar shape; results are in the order of the lines. */
async function recognizeLines(
  { recognizer, dictionary }: PageReader,
  lines: readonly FoundLine[],
  signal: AbortSignal | undefined,
): Promise<readonly RatedLine[]> {
  const results: RatedLine[] = [];
  const batches = shapeBatches(lines).map((indices) => {
    const pictures = indices.map((index) => at(lines, index).picture);
    return { indices, pictures, inputRatio: Math.max(minRecognizerRatio, ...pictures.map(ratio)) };
  });
  await runInTurn(recognizer, batches, {
    signal,
    prepare: ({ pictures, inputRatio }) => lineInput(pictures, lineHeight, Math.trunc(lineHeight * inputRatio)),
    take: ({ indices, inputRatio }, output) =>
      decodeCtc(output, dictionary).forEach((line, place) => (results[at(indices, place)] = { ...line, inputRatio })),
  });
  return results;
}

/** Turns the lines by a half that the classifier sees upside down. */
async function turnUpright(
  classifier: LoadedGraph,
  lines: readonly FoundLine[],
  signal: AbortSignal | undefined,
): Promise<readonly FoundLine[]> {
  const upright = [...lines];
  await runInTurn(classifier, shapeBatches(lines), {
    signal,
    prepare: (batch) =>
      lineInput(
        batch.map((index) => at(lines, index).picture),
        lineHeight,
        classifierWidth,
      ),
    take: (batch, { data, shape, dataType }) => {
      if (!(data instanceof Float32Array) || shape[1] !== 2)
        throw new InferyardError(
          "MODEL_UNSUPPORTED",
          `the classifier gives ${dataType} [${shape.join(", ")}], not float32 [lines, 2]`,
        );
      batch.forEach((index, place) => {
        const line = at(lines, index);
        const [kept, turned] = [at(data, 2 * place), at(data, 2 * place + 1)];
        if (turned > kept && turned > turnThreshold)
          upright[index] = { ...line, picture: turnHalf(line.picture), upsideDown: true };
      });
    },
  });
  return upright;
}

/** Runs a graph on one batch after the other. While it computes one, the next is prepared, and the result of the one before is taken. */
async function runInTurn<Batch>(
  graph: LoadedGraph,
  batches: readonly Batch[],
  {
    prepare,
    take,
    signal,
  }: {
    readonly prepare: (batch: Batch) => Tensor;
    readonly take: (batch: Batch, output: Tensor) => void;
    readonly signal: AbortSignal | undefined;
  },
): Promise<void> {
  let computing: Promise<Tensor> | undefined;
  let before: Batch | undefined;
  for (const batch of batches) {
    const input = prepare(batch);
    const output = await computing;
    computing = runGraph(graph, input, signal);
    computing.catch(() => {}); // it is thrown where it is awaited
    if (before !== undefined && output !== undefined) take(before, output);
    before = batch;
  }
  const last = await computing;
  if (before !== undefined && last !== undefined) take(before, last);
}

/** Indices of lines, the narrowest first, in batches. */
function shapeBatches(lines: readonly FoundLine[]): readonly (readonly number[])[] {
  const ratios = lines.map(({ picture }) => ratio(picture));
  const order = lines.map((_, index) => index).toSorted((a, b) => at(ratios, a) - at(ratios, b));
  return Array.from({ length: Math.ceil(order.length / batchLines) }, (_, batch) =>
    order.slice(batch * batchLines, (batch + 1) * batchLines),
  );
}

function ratio({ width, height }: Picture): number {
  return width / height;
}

async function runGraph(graph: LoadedGraph, input: Tensor, signal: AbortSignal | undefined): Promise<Tensor> {
  const [name, output] = [at(graph.inputs, 0).name, at(graph.outputs, 0).name];
  const outputs = await graph.run({ [name]: input }, signal === undefined ? {} : { signal });
  const tensor = outputs[output];
  if (tensor === undefined) throw new InferyardError("MODEL_UNSUPPORTED", `the network gives no output "${output}"`);
  return tensor;
}

function onPage([first, second, third, fourth]: Quadrilateral, { toPage }: FittedPage): Quadrilateral {
  return [toPage(first), toPage(second), toPage(third), toPage(fourth)];
}

function layout(
  line: RatedLine,
  { picture, turned, upsideDown }: FoundLine,
  box: Quadrilateral,
  page: FittedPage,
): Parameters<typeof findWords>[1] {
  const [scaleX, scaleY] = turned ? [page.scaleY, page.scaleX] : [page.scaleX, page.scaleY];
  return {
    box,
    width: Math.round(picture.width * scaleX),
    height: Math.round(picture.height * scaleY),
    filled: ratio(picture) / line.inputRatio,
    turned,
    upsideDown,
  };
}
