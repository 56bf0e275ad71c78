/** What detectors put out, as boxes of pictures: the layouts of DETR, YOLO (v8 and later) and Ultra-Light-Fast-Generic-Face-Detector (RFB). */
import { InferyardError } from "../../contract/errors.ts";
import type { TensorInfo, TensorMap } from "../../contract/tensor.ts";
import { toFloat32 } from "../../contract/to-float32.ts";
import type { DetectorLayout } from "../../models/vision-manifest.ts";
import type { PictureSize } from "../../processors/images/resize-picture.ts";
import type { Placement } from "../../processors/images/letterbox.ts";
import type { Box, Candidate } from "./boxes.ts";

/** One picture of a batch, in the coordinates of the model and of the picture. */
export interface DetectedPicture {
  /** Position in the batch. */
  readonly index: number;
  /** Size of the picture as given. */
  readonly picture: PictureSize;
  readonly placement: Placement;
  /** Size of what the model saw. */
  readonly seen: PictureSize;
}

/** Reads candidates of at least a score. */
export interface DetectorDecoder {
  /** Outputs that it reads. */
  readonly outputs: readonly string[];
  /** Whether overlapping candidates must be suppressed. */
  readonly overlaps: boolean;
  decode(outputs: TensorMap, picture: DetectedPicture, threshold: number): Candidate[];
}

/** The decoder of a layout. Throws MODEL_UNSUPPORTED where the outputs are not those of the layout, or where none is stated and they are not DETR's. */
export function createDetectorDecoder(layout: DetectorLayout | undefined, outputs: readonly TensorInfo[]): DetectorDecoder {
  const find = (name: string, rank: number): TensorInfo | undefined =>
    outputs.find((info) => info.name === name && info.shape.length === rank);
  const unlike = (wanted: string): InferyardError =>
    new InferyardError(
      "MODEL_UNSUPPORTED",
      `the outputs are not those of a detector with ${wanted}: ${outputs.map(({ name, shape }) => `${name} [${shape.join(", ")}]`).join(", ")}`,
      { remedy: "state vision.detector.layout in the model's inferyard.json: detr, yolo, rfb or rfb-corners" },
    );
  if (layout === undefined || layout === "detr") {
    if (find("logits", 3) === undefined || find("pred_boxes", 3) === undefined) throw unlike("logits and pred_boxes");
    return detr;
  }
  if (layout === "rfb" || layout === "rfb-corners") {
    if (find("scores", 3) === undefined || find("boxes", 3) === undefined) throw unlike("scores and boxes");
    return createRfb(layout === "rfb");
  }
  const output = outputs.find(({ shape }) => shape.length === 3);
  if (output === undefined) throw unlike("one output of three axes");
  return createYolo(output.name);
}

/** Elements of one picture in an output `[pictures, rows, columns]`. */
function rowsOf(outputs: TensorMap, name: string, index: number): { rows: number; columns: number; data: Float32Array } {
  const tensor = outputs[name];
  if (tensor === undefined) throw new InferyardError("RUN_FAILED", `the model gave no output ${name}`);
  const [, rows = 0, columns = 0] = tensor.shape;
  return { rows, columns, data: toFloat32(tensor).subarray(index * rows * columns, (index + 1) * rows * columns) };
}

function clip({ xmin, ymin, xmax, ymax }: Box, { width, height }: PictureSize): Box {
  const within = (value: number, most: number): number => Math.min(Math.max(value, 0), most);
  return { xmin: within(xmin, width), ymin: within(ymin, height), xmax: within(xmax, width), ymax: within(ymax, height) };
}

/**
 * DETR (Carion et al. 2020): `logits` [pictures, queries, labels + 1], whose last column is "no object", and `pred_boxes` [pictures, queries, 4], centre and size in
 * parts of the picture. As `post_process_object_detection` of transformers: no suppression, no clipping.
 */
const detr: DetectorDecoder = {
  outputs: ["logits", "pred_boxes"],
  overlaps: false,
  decode(outputs, { index, picture: { width, height } }, threshold) {
    const logits = rowsOf(outputs, "logits", index);
    const boxes = rowsOf(outputs, "pred_boxes", index);
    const found: Candidate[] = [];
    for (let query = 0; query < logits.rows; query++) {
      const row = logits.data.subarray(query * logits.columns, (query + 1) * logits.columns);
      const { label, score } = bestProbability(row);
      if (score <= threshold) continue;
      const [x = 0, y = 0, wide = 0, high = 0] = boxes.data.subarray(query * 4, query * 4 + 4);
      const box = {
        xmin: (x - wide / 2) * width,
        ymin: (y - high / 2) * height,
        xmax: (x + wide / 2) * width,
        ymax: (y + high / 2) * height,
      };
      found.push({ box, label, score });
    }
    return found;
  },
};

/** The best label but the last, and its probability by softmax over all. */
function bestProbability(logits: Float32Array): { readonly label: number; readonly score: number } {
  const highest = logits.reduce((most, logit) => Math.max(most, logit), Number.NEGATIVE_INFINITY);
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - highest), 0);
  const labels = logits.subarray(0, -1);
  const best = labels.reduce((most, logit) => Math.max(most, logit), Number.NEGATIVE_INFINITY);
  return { label: labels.indexOf(best), score: Math.exp(best - highest) / sum };
}

/** YOLO of ultralytics: one output [pictures, 4 + labels, anchors]: centre and size in pixels of what the model saw, then a score per label. */
function createYolo(name: string): DetectorDecoder {
  return {
    outputs: [name],
    overlaps: true,
    decode(outputs, { index, picture, placement }, threshold) {
      const { rows, columns, data } = rowsOf(outputs, name, index);
      const found: Candidate[] = [];
      for (let anchor = 0; anchor < columns; anchor++) {
        let [label, score] = [0, Number.NEGATIVE_INFINITY];
        for (let row = 4; row < rows; row++) {
          const value = data[row * columns + anchor] ?? 0;
          if (value > score) [label, score] = [row - 4, value];
        }
        if (score < threshold) continue;
        const [x = 0, y = 0, wide = 0, high = 0] = [0, 1, 2, 3].map((row) => data[row * columns + anchor]);
        const box = toPicture({ xmin: x - wide / 2, ymin: y - high / 2, xmax: x + wide / 2, ymax: y + high / 2 }, placement);
        found.push({ box: clip(box, picture), label, score });
      }
      return found;
    },
  };
}

/** From pixels of what the model saw to pixels of the picture. */
function toPicture({ xmin, ymin, xmax, ymax }: Box, { scaleX, scaleY, left, top }: Placement): Box {
  return { xmin: (xmin - left) / scaleX, ymin: (ymin - top) / scaleY, xmax: (xmax - left) / scaleX, ymax: (ymax - top) / scaleY };
}

/**
 * Ultra-Light-Fast-Generic-Face-Detector: `scores` [pictures, priors, labels + 1], whose first column is the background's, and `boxes` [pictures, priors, 4]: corners in
 * parts of what the model saw, or offsets from prior boxes.
 */
function createRfb(areOffsets: boolean): DetectorDecoder {
  return {
    outputs: ["scores", "boxes"],
    overlaps: true,
    decode(outputs, { index, picture, placement, seen }, threshold) {
      const scores = rowsOf(outputs, "scores", index);
      const boxes = rowsOf(outputs, "boxes", index);
      const priors = areOffsets ? createPriors(seen) : [];
      if (areOffsets && priors.length !== scores.rows)
        throw new InferyardError(
          "MODEL_INVALID",
          `the detector has ${scores.rows} boxes, and ${seen.width} x ${seen.height} pixels have ${priors.length} prior boxes`,
        );
      const found: Candidate[] = [];
      for (let prior = 0; prior < scores.rows; prior++)
        for (let label = 1; label < scores.columns; label++) {
          const score = scores.data[prior * scores.columns + label] ?? 0;
          if (score <= threshold) continue;
          const box = readBox(boxes.data.subarray(prior * 4, prior * 4 + 4), priors[prior]);
          const { xmin, ymin, xmax, ymax } = box;
          const scaled = { xmin: xmin * seen.width, ymin: ymin * seen.height, xmax: xmax * seen.width, ymax: ymax * seen.height };
          found.push({ box: clip(toPicture(scaled, placement), picture), label: label - 1, score });
        }
      return found;
    },
  };
}

/** A prior box (Liu et al. 2016, "SSD"): centre and size in parts of what the model saw. */
interface Prior {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Sides of the prior boxes in pixels, for each feature map, with its stride. */
const priorSides: readonly { readonly stride: number; readonly sides: readonly number[] }[] = [
  { stride: 8, sides: [10, 16, 24] },
  { stride: 16, sides: [32, 48] },
  { stride: 32, sides: [64, 96] },
  { stride: 64, sides: [128, 192, 256] },
];

/** Variances by which offsets of centres and logarithms of sizes are multiplied. */
const [centreVariance, sizeVariance] = [0.1, 0.2];

/** The prior boxes of a size, in the order of the graph's rows. */
function createPriors({ width, height }: PictureSize): Prior[] {
  const clipped = (part: number): number => Math.min(part, 1);
  return priorSides.flatMap(({ stride, sides }) => {
    const cells = Array.from({ length: Math.ceil(height / stride) }, (_, row) =>
      Array.from({ length: Math.ceil(width / stride) }, (__, column) =>
        sides.map((side) => ({
          x: clipped(((column + 0.5) * stride) / width),
          y: clipped(((row + 0.5) * stride) / height),
          width: clipped(side / width),
          height: clipped(side / height),
        })),
      ),
    );
    return cells.flat(2);
  });
}

/** Corners, from corners or from offsets to a prior box. */
function readBox([first = 0, second = 0, third = 0, fourth = 0]: Float32Array, prior: Prior | undefined): Box {
  if (prior === undefined) return { xmin: first, ymin: second, xmax: third, ymax: fourth };
  const x = prior.x + first * centreVariance * prior.width;
  const y = prior.y + second * centreVariance * prior.height;
  const width = prior.width * Math.exp(third * sizeVariance);
  const height = prior.height * Math.exp(fourth * sizeVariance);
  return { xmin: x - width / 2, ymin: y - height / 2, xmax: x + width / 2, ymax: y + height / 2 };
}
