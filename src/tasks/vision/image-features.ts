/** Task `image-feature-extraction` (Hugging Face): the hidden states of a model of pictures, or its pooled vectors. */
import { InferyardError } from "../../contract/errors.ts";
import { toFloat32 } from "../../contract/to-float32.ts";
import { type OptionTable, boolean, checkOptions } from "../../runtime/options/option.ts";
import type { MediaModel } from "../definition/media-task.ts";
import { requireFinite } from "../encoding/require-finite.ts";
import type { PictureSource } from "../../processors/images/picture-source.ts";
import { preparePictureGraph, runPictures } from "./run-pictures.ts";
import { emptyTexts } from "./text-batch.ts";
import { type VisionOptions, requirePictures, visionOptions } from "./vision-options.ts";

/** Options of `Runtime.imageFeatures`. */
export interface ImageFeaturesOptions extends VisionOptions {
  /** Whether the pooled vector (`pooler_output`, `image_embeds`) is returned instead of the hidden states. Default: false. */
  readonly pool?: boolean;
}

/** All options of `imageFeatures`. */
export const imageFeaturesOptions: OptionTable<ImageFeaturesOptions> = {
  pool: { type: boolean, flag: ["--pool", "the pooled vector instead of the hidden states"] },
  ...visionOptions,
};

/** Features of one picture. */
export interface ImageFeature {
  /** `[patches, dimensions]` for hidden states, `[dimensions]` for a pooled vector; other shapes as the model has them, without the axis of pictures. */
  readonly shape: readonly number[];
  /** Elements in row-major order. */
  readonly data: Float32Array;
}

/** Features of pictures, in order. */
export interface ImageFeatures {
  readonly features: readonly ImageFeature[];
}

const hiddenStates = ["last_hidden_state", "hidden_states", "vision_model_output.last_hidden_state"];
const pooled = ["pooler_output", "image_features", "image_embeds"];

/** Throws INPUT_INVALID for options that no model can obey. */
export function checkImageFeatures(pictures: readonly PictureSource[], options: ImageFeaturesOptions): void {
  checkOptions(imageFeaturesOptions, options);
  requirePictures(pictures);
}

/** Computes features. Throws MODEL_UNSUPPORTED for a model without the output. */
export async function extractImageFeatures(
  model: MediaModel,
  pictures: readonly PictureSource[],
  options: ImageFeaturesOptions,
): Promise<ImageFeatures> {
  const graph = model.hasPart("vision_model") ? await model.part("vision_model") : await model.main();
  const prepared = await preparePictureGraph(model, graph);
  const names = options.pool === true ? pooled : hiddenStates;
  const only = graph.outputs.length === 1 && options.pool !== true ? graph.outputs[0]?.name : undefined;
  const output = names.find((name) => graph.outputs.some((info) => info.name === name)) ?? only;
  if (output === undefined)
    throw new InferyardError("MODEL_UNSUPPORTED", `${model.manifest.name} has no output ${names.join(" or ")}`, {
      remedy: `its outputs are ${graph.outputs.map(({ name }) => name).join(", ")}`,
    });
  const features: ImageFeature[] = [];
  const others = await emptyTexts(model, graph.inputs, options.signal);
  await runPictures(prepared, pictures, { ...options, outputs: [output], others }, ({ first, pictures: batch, outputs }) => {
    const tensor = outputs[output];
    if (tensor === undefined) return;
    const data = toFloat32(tensor);
    const size = data.length / batch.length;
    for (let index = 0; index < batch.length; index++) {
      const row = data.slice(index * size, (index + 1) * size);
      requireFinite(row, first + index, "picture");
      features.push({ shape: tensor.shape.slice(1), data: row });
    }
  });
  return { features };
}
