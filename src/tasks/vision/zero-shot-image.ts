/** Task `zero-shot-image-classification` (Hugging Face): how well texts fit pictures, by a model that reads both (CLIP, SigLIP). */
import { InferyardError } from "../../contract/errors.ts";
import { toFloat32 } from "../../contract/to-float32.ts";
import type { MediaModel } from "../definition/media-task.ts";
import { type LabelScore, applyActivation } from "../encoding/label-head.ts";
import { requireFinite } from "../encoding/require-finite.ts";
import { type ImageClassifications, rankLabels } from "./classify-image.ts";
import type { ClassifyImageOptions } from "./classify-image-options.ts";
import type { PictureSource } from "../../processors/images/picture-source.ts";
import { preparePictureGraph, runPictures } from "./run-pictures.ts";
import { isSiglip, tokenizeTexts } from "./text-batch.ts";

const defaultTemplate = "This is a photo of {}.";
const logitsName = "logits_per_image";

/**
 * Scores candidate labels for pictures, as transformers' pipeline of that name: softmax over the labels for CLIP, sigmoid of each for SigLIP. Needs the joint
 * graph, which has the trained scale of the logits. Throws MODEL_UNSUPPORTED for a model without `logits_per_image`.
 */
export async function classifyImageZeroShot(
  model: MediaModel,
  pictures: readonly PictureSource[],
  options: ClassifyImageOptions & { readonly labels: readonly string[] },
): Promise<ImageClassifications> {
  const { labels, hypothesisTemplate = defaultTemplate, signal } = options;
  const joint = await model.main();
  if (!joint.outputs.some(({ name }) => name === logitsName))
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      `${model.manifest.name} does not compare pictures with texts: it has no output ${logitsName}`,
      {
        remedy: "use the joint export of a CLIP or SigLIP model, model.onnx; without labels the model's own are scored",
      },
    );
  const texts = labels.map((label) => hypothesisTemplate.replaceAll("{}", label));
  const { tensors } = await tokenizeTexts(model, joint.inputs, texts, signal);
  const graph = await preparePictureGraph(model, joint);
  const activation = options.activation ?? (isSiglip(model.manifest) ? "sigmoid" : "softmax");
  const results: LabelScore[][] = [];
  await runPictures(
    graph,
    pictures,
    { ...options, outputs: [logitsName], others: tensors },
    ({ first, pictures: batch, outputs }) => {
      const tensor = outputs[logitsName];
      const logits = tensor === undefined ? new Float32Array(0) : toFloat32(tensor);
      for (let index = 0; index < batch.length; index++) {
        const row = logits.slice(index * labels.length, (index + 1) * labels.length);
        requireFinite(row, first + index, "picture");
        results.push(rankLabels(applyActivation(row, activation), labels).slice(0, options.topK));
      }
    },
  );
  return { results };
}
