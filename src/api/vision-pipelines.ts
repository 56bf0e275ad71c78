/** The pipelines of transformers.js on pictures. */
import type { ModelHandle } from "../runtime/model-handle.ts";
import type { LabelScore } from "../tasks/encoding/label-head.ts";
import type { ReadPageOptions } from "../tasks/reading/read-options.ts";
import type { ClassifyImageOptions } from "../tasks/vision/classify-image-options.ts";
import type { DetectObjectsOptions } from "../tasks/vision/detect-objects-options.ts";
import type { DetectedObject } from "../tasks/vision/detect-objects.ts";
import type { ImageFeature, ImageFeaturesOptions } from "../tasks/vision/image-features.ts";
import type { PictureSource } from "../processors/images/picture-source.ts";
import { toPictures } from "./request-options.ts";
import type { Runtime } from "./runtime.ts";

/** A function on one picture or a list of pictures: one result, or a list of results. */
export interface OneOrManyPictures<Result, Rest extends readonly unknown[]> {
  (picture: PictureSource, ...rest: Rest): Promise<Result>;
  (pictures: readonly PictureSource[], ...rest: Rest): Promise<Result[]>;
}

/** Signatures of the pipelines on pictures. */
export interface VisionPipelineCalls {
  /** The five best labels; `topK` changes the number. */
  "image-classification": OneOrManyPictures<
    LabelScore[],
    [options?: Omit<ClassifyImageOptions, "labels" | "hypothesisTemplate">]
  >;
  "zero-shot-image-classification": OneOrManyPictures<
    LabelScore[],
    [labels: readonly string[], options?: Omit<ClassifyImageOptions, "labels">]
  >;
  /** `threshold` defaults to 0.9, as in transformers.js. */
  "object-detection": OneOrManyPictures<DetectedObject[], [options?: DetectObjectsOptions]>;
  "image-feature-extraction": OneOrManyPictures<ImageFeature, [options?: ImageFeaturesOptions]>;
  /** The text that a model writes about a picture, or reads in it: TrOCR, ViT with GPT-2. */
  "image-to-text": OneOrManyPictures<
    { readonly generated_text: string }[],
    [options?: Pick<ReadPageOptions, "maxNewTokens" | "signal">]
  >;
}

type VisionPipelineFactories = {
  readonly [Task in keyof VisionPipelineCalls]: (runtime: Runtime, model: ModelHandle) => VisionPipelineCalls[Task];
};

/** Creates the pipelines on pictures for a loaded model. */
export const visionPipelines: VisionPipelineFactories = {
  "image-classification": (runtime, model) =>
    oneOrMany(async (pictures, options?: ClassifyImageOptions) => {
      const { results } = await runtime.classifyImage(pictures, { topK: 5, ...options, model });
      return results.map((labels) => [...labels]);
    }),

  "zero-shot-image-classification": (runtime, model) =>
    oneOrMany(async (pictures, labels: readonly string[], options?: ClassifyImageOptions) => {
      const { results } = await runtime.classifyImage(pictures, { ...options, labels, model });
      return results.map((scored) => [...scored]);
    }),

  "object-detection": (runtime, model) =>
    oneOrMany(async (pictures, options?: DetectObjectsOptions) => {
      const { results } = await runtime.detectObjects(pictures, { threshold: 0.9, ...options, model });
      return results.map((found) => [...found]);
    }),

  "image-feature-extraction": (runtime, model) =>
    oneOrMany(async (pictures, options?: ImageFeaturesOptions) => {
      const { features } = await runtime.imageFeatures(pictures, { ...options, model });
      return [...features];
    }),

  "image-to-text": (runtime, model) =>
    oneOrMany(async (pictures, options?: Pick<ReadPageOptions, "maxNewTokens" | "signal">) => {
      const texts: { readonly generated_text: string }[][] = [];
      for (const picture of pictures) {
        const { lines } = await runtime.read(picture, { ...options, model });
        texts.push([{ generated_text: lines.map(({ text }) => text).join("\n") }]);
      }
      return texts;
    }),
};

/** Wraps a function on a list of pictures so that it also takes a single one. */
function oneOrMany<Result, Rest extends readonly unknown[]>(
  many: (pictures: readonly PictureSource[], ...rest: Rest) => Promise<Result[]>,
): OneOrManyPictures<Result, Rest> {
  const call = async (
    pictures: PictureSource | readonly PictureSource[],
    ...rest: Rest
  ): Promise<Result | Result[] | undefined> => {
    const results = await many(toPictures(pictures), ...rest);
    return Array.isArray(pictures) ? results : results[0];
  };
  return call as OneOrManyPictures<Result, Rest>;
}
