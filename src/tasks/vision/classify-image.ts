/** Task `image-classification` (Hugging Face): scores of a classifier's labels for pictures. */
import { InferyardError } from "../../contract/errors.ts";
import type { TensorInfo } from "../../contract/tensor.ts";
import { toFloat32 } from "../../contract/to-float32.ts";
import type { Manifest } from "../../models/manifest.ts";
import { checkOptions } from "../../runtime/options/option.ts";
import type { MediaModel } from "../definition/media-task.ts";
import { type HeadActivation, type LabelScore, applyActivation, getLabelHead } from "../encoding/label-head.ts";
import { requireFinite } from "../encoding/require-finite.ts";
import { type ClassifyImageOptions, classifyImageOptions } from "./classify-image-options.ts";
import type { PictureSource } from "../../processors/images/picture-source.ts";
import { preparePictureGraph, runPictures } from "./run-pictures.ts";
import { requirePictures } from "./vision-options.ts";

/** Labels of pictures. */
export interface ImageClassifications {
  /** One list per picture, in order; labels by descending score, equal scores in the order of the model's labels. */
  readonly results: readonly (readonly LabelScore[])[];
}

/** Throws INPUT_INVALID for options that no model can obey. */
export function checkClassifyImage(pictures: readonly PictureSource[], options: ClassifyImageOptions): void {
  checkOptions(classifyImageOptions, options);
  requirePictures(pictures);
  const { labels, hypothesisTemplate } = options;
  if (labels !== undefined && (labels.length === 0 || !labels.every((label) => typeof label === "string" && label !== "")))
    throw new InferyardError("INPUT_INVALID", "labels is not a list of texts", { remedy: "give at least one label" });
  if (labels === undefined && hypothesisTemplate !== undefined)
    throw new InferyardError("INPUT_INVALID", '"hypothesisTemplate" has no effect with the model\'s own labels', {
      remedy: 'leave "hypothesisTemplate" out',
    });
}

/** Classifies pictures by the model's labels, or by those of the options. Throws MODEL_UNSUPPORTED for a model without a classification head. */
export async function classifyImage(
  model: MediaModel,
  pictures: readonly PictureSource[],
  options: ClassifyImageOptions,
): Promise<ImageClassifications> {
  if (options.labels !== undefined) {
    const { classifyImageZeroShot } = await import("./zero-shot-image.ts");
    return classifyImageZeroShot(model, pictures, { ...options, labels: options.labels });
  }
  const graph = await preparePictureGraph(model, await model.main());
  const output = findScores(graph.graph.outputs);
  const activation = options.activation ?? readActivation(model.manifest, output);
  const results: LabelScore[][] = [];
  await runPictures(graph, pictures, { ...options, outputs: [output.name] }, ({ first, pictures: batch, outputs }) => {
    const tensor = outputs[output.name];
    const logits = tensor === undefined ? new Float32Array(0) : toFloat32(tensor);
    const count = logits.length / batch.length;
    const labels = readLabels(model.manifest, count);
    for (let index = 0; index < batch.length; index++) {
      const row = logits.slice(index * count, (index + 1) * count);
      requireFinite(row, first + index, "picture");
      results.push(rankLabels(applyActivation(row, activation), labels).slice(0, options.topK));
    }
  });
  return { results };
}

/** The output with a score for each label: `[pictures, labels]`, or with further axes of one element. */
function findScores(outputs: readonly TensorInfo[]): TensorInfo {
  const isScores = ({ shape }: TensorInfo): boolean =>
    shape.length === 2 || (shape.length > 2 && shape.slice(2).every((size) => size === 1));
  const fitting = outputs.filter(isScores);
  const output = fitting.find(({ name }) => name === "logits") ?? (fitting.length === 1 ? fitting[0] : undefined);
  if (output !== undefined) return output;
  const given = outputs.map(({ name, shape }) => `${name} [${shape.join(", ")}]`).join(", ");
  throw new InferyardError("MODEL_UNSUPPORTED", `no output of this model holds scores of labels; it has ${given}`, {
    remedy: "use an export with a classification head; for a model that compares pictures with texts, give labels",
  });
}

/** The activation that the model's files state: inferyard.json, or config.json; "none" for an output that is named after one. */
function readActivation({ vision, variants }: Manifest, { name }: TensorInfo): HeadActivation {
  if (vision?.activation !== undefined) return vision.activation;
  const { problem_type: problem, function_to_apply: stated } = variants[0]?.config ?? {};
  if (problem === "multi_label_classification") return "sigmoid";
  if (stated === "softmax" || stated === "sigmoid" || stated === "none") return stated;
  return /softmax|prob/iu.test(name) ? "none" : "softmax";
}

/** Names of the labels. Where the files state none they are LABEL_0 and so on, as transformers has them. */
function readLabels(manifest: Manifest, count: number): readonly string[] {
  const { vision, variants } = manifest;
  const { id2label, num_labels: number } = variants[0]?.config ?? {};
  const stated = vision?.labels ?? (id2label === undefined && number === undefined ? [] : getLabelHead(manifest).labels);
  if (stated.length === count) return stated;
  if (stated.length === 0) return Array.from({ length: count }, (_, index) => `LABEL_${index}`);
  throw new InferyardError("MODEL_INVALID", `${manifest.name} states ${stated.length} labels, and its graph has ${count} scores`);
}

/** Labels by descending score; equal scores stay in the order of the labels. */
export function rankLabels(scores: Float32Array, labels: readonly string[]): LabelScore[] {
  const named = Array.from(scores, (score, index) => ({ label: labels[index] ?? `LABEL_${index}`, score }));
  return named.sort((a, b) => b.score - a.score);
}
