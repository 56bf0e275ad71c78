/** Task `object-detection` (Hugging Face): things in pictures, each with its label, score and box. */
import { checkOptions } from "../../runtime/options/option.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { TensorInfo } from "../../contract/tensor.ts";
import type { Manifest } from "../../models/manifest.ts";
import type { MediaModel } from "../definition/media-task.ts";
import { type Box, suppressOverlaps } from "./boxes.ts";
import { type DetectObjectsOptions, detectObjectsOptions } from "./detect-objects-options.ts";
import { createDetectorDecoder } from "./detector-layouts.ts";
import type { PictureSource } from "../../processors/images/picture-source.ts";
import { preparePictureGraph, runPictures } from "./run-pictures.ts";
import { requirePictures } from "./vision-options.ts";

/** A thing in a picture. */
export interface DetectedObject {
  readonly label: string;
  /** A probability, or what the model scores with. */
  readonly score: number;
  readonly box: Box;
}

/** Things in pictures. */
export interface DetectedObjects {
  /** One list per picture, in order; by descending score. */
  readonly results: readonly (readonly DetectedObject[])[];
}

/** Throws INPUT_INVALID for options that no model can obey. */
export function checkDetectObjects(pictures: readonly PictureSource[], options: DetectObjectsOptions): void {
  checkOptions(detectObjectsOptions, options);
  requirePictures(pictures);
  const { threshold = 0, overlap = 0 } = options;
  for (const [name, value] of Object.entries({ threshold, overlap }))
    if (!(value >= 0 && value <= 1))
      throw new InferyardError("INPUT_INVALID", `${name} is ${String(value)}, and must be a number from 0 to 1`);
}

/** Detects things by the layout that the model's inferyard.json states, or by DETR's. Throws MODEL_UNSUPPORTED for outputs of another layout. */
export async function detectObjects(
  model: MediaModel,
  pictures: readonly PictureSource[],
  options: DetectObjectsOptions,
): Promise<DetectedObjects> {
  const graph = await model.main();
  refuseTextInputs(model.manifest, graph.inputs);
  const prepared = await preparePictureGraph(model, graph);
  const { vision } = model.manifest;
  const decoder = createDetectorDecoder(vision?.detector?.layout, prepared.graph.outputs);
  const { threshold = vision?.detector?.threshold ?? 0.5, overlap = vision?.detector?.overlap ?? 0.45, topK } = options;
  const perLabel = vision?.detector?.perLabel ?? false;
  const labels = readLabels(model.manifest);
  const results: DetectedObject[][] = [];
  await runPictures(prepared, pictures, { ...options, outputs: decoder.outputs }, ({ pictures: batch, pixels, outputs }) => {
    const isLast = prepared.settings.layout === "channels-last";
    const [height, width] = isLast ? [pixels.shape[1], pixels.shape[2]] : [pixels.shape[2], pixels.shape[3]];
    for (const [index, picture] of batch.entries()) {
      const placement = pixels.placements[index] ?? { scaleX: 1, scaleY: 1, left: 0, top: 0 };
      const candidates = decoder.decode(outputs, { index, picture, placement, seen: { width, height } }, threshold);
      const kept = decoder.overlaps
        ? suppressOverlaps(candidates, overlap, perLabel)
        : candidates.toSorted((a, b) => b.score - a.score);
      results.push(kept.slice(0, topK).map(({ label, score, box }) => ({ label: labels(label), score, box })));
    }
  });
  return { results };
}

/** Throws MODEL_UNSUPPORTED for a detector that looks for what texts describe, such as OWL-ViT and Grounding DINO. */
function refuseTextInputs({ name, variants }: Manifest, inputs: readonly TensorInfo[]): void {
  const text = inputs.find((input) => input.name === "input_ids");
  if (text === undefined) return;
  const type = variants[0]?.config["model_type"];
  const described = typeof type === "string" ? `${name}, of the type ${JSON.stringify(type)},` : name;
  throw new InferyardError(
    "MODEL_UNSUPPORTED",
    `${described} looks for what texts describe (it has an input ${text.name}), which detectors do not here`,
    { remedy: "use a detector with labels of its own: DETR, YOLO or RFB" },
  );
}

/** Names of labels by their index: of inferyard.json, otherwise id2label of config.json, otherwise LABEL_0 and so on. */
function readLabels({ vision, variants }: Manifest): (index: number) => string {
  const stated = variants[0]?.config["id2label"];
  const names = new Map<string, unknown>(Object.entries(vision?.labels ?? stated ?? {}));
  return (index) => {
    const name = names.get(String(index));
    return typeof name === "string" ? name : `LABEL_${index}`;
  };
}
