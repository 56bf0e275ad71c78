/** The definitions of the tasks on pictures. */
import { getArchitectures } from "../models/huggingface/model-card.ts";
import type { MediaTask } from "./definition/media-task.ts";
import type { TaskDescription } from "./definition/task.ts";
import type { Embeddings } from "./embedding/embeddings.ts";
import type { ClassifyImageOptions } from "./vision/classify-image-options.ts";
import type { ImageClassifications } from "./vision/classify-image.ts";
import type { DetectObjectsOptions } from "./vision/detect-objects-options.ts";
import type { DetectedObjects } from "./vision/detect-objects.ts";
import type { EmbedMediaOptions } from "./vision/embed-media-options.ts";
import type { MediaInput } from "./vision/embed-media.ts";
import type { ImageFeatures, ImageFeaturesOptions } from "./vision/image-features.ts";
import type { PictureSource } from "../processors/images/picture-source.ts";

/** Files of a model of pictures beside its weights. */
const pictureFiles: readonly string[] = ["preprocessor_config.json, or vision.preprocessor in inferyard.json"];
const pictureLabelFiles: readonly string[] = [...pictureFiles, "config.json (id2label), or vision.labels"];

/** Labels of pictures by a classifier; with the option `labels` this is `zero-shot-image-classification`. */
export const imageClassificationTask: MediaTask<readonly PictureSource[], ClassifyImageOptions, ImageClassifications> = {
  task: "image-classification",
  verb: "classifyImage",
  command: "classify --image",
  route: "/api/classify",
  input: "pictures",
  output: "labels with scores",
  models: getArchitectures("image-classification"),
  files: pictureLabelFiles,
  pipeline: true,
  load: async () => {
    const [{ checkClassifyImage, classifyImage }, { classifyImageOptions }] = await Promise.all([
      import("./vision/classify-image.ts"),
      import("./vision/classify-image-options.ts"),
    ]);
    return { options: classifyImageOptions, check: checkClassifyImage, run: classifyImage };
  },
};

/** Labels of your own for pictures. `imageClassificationTask` runs it. */
export const zeroShotImageClassificationTask: TaskDescription = {
  task: "zero-shot-image-classification",
  verb: "classifyImage",
  command: "classify --image",
  route: "/api/classify",
  input: "pictures, and labels of your own",
  output: "those labels with scores",
  models: "CLIP and SigLIP, as one graph with logits_per_image",
  files: ["tokenizer.json", ...pictureFiles],
  pipeline: true,
};

/** Things in pictures, each with its label, score and box. */
export const objectDetectionTask: MediaTask<readonly PictureSource[], DetectObjectsOptions, DetectedObjects> = {
  task: "object-detection",
  verb: "detectObjects",
  command: "detect",
  route: "/api/detect",
  input: "pictures",
  output: "things in them with labels, scores and boxes",
  models: `${getArchitectures("object-detection")} with the outputs of DETR; YOLO and RFB by vision.detector in inferyard.json`,
  files: pictureLabelFiles,
  pipeline: true,
  load: async () => {
    const [{ checkDetectObjects, detectObjects }, { detectObjectsOptions }] = await Promise.all([
      import("./vision/detect-objects.ts"),
      import("./vision/detect-objects-options.ts"),
    ]);
    return { options: detectObjectsOptions, check: checkDetectObjects, run: detectObjects };
  },
};

/** Hidden states or pooled vectors of pictures. */
export const imageFeatureExtractionTask: MediaTask<readonly PictureSource[], ImageFeaturesOptions, ImageFeatures> = {
  task: "image-feature-extraction",
  verb: "imageFeatures",
  command: "image-features",
  input: "pictures",
  output: "the model's hidden states, or a pooled vector",
  models: "any encoder of pictures",
  files: pictureFiles,
  pipeline: true,
  load: async () => {
    const { checkImageFeatures, extractImageFeatures, imageFeaturesOptions } = await import("./vision/image-features.ts");
    return { options: imageFeaturesOptions, check: checkImageFeatures, run: extractImageFeatures };
  },
};

/** Vectors of texts and pictures in one space; the task `feature-extraction` for a model that reads both. It has no row of its own. */
export const mediaEmbeddingTask: MediaTask<readonly MediaInput[], EmbedMediaOptions, Embeddings> = {
  task: "feature-extraction",
  verb: "embed",
  command: "embed --image",
  route: "/api/embed",
  input: "texts and pictures",
  output: "a vector per input",
  models: "CLIP and SigLIP",
  files: ["tokenizer.json", ...pictureFiles],
  pipeline: false,
  load: async () => {
    const [{ checkEmbedMedia, embedMedia }, { embedMediaOptions }] = await Promise.all([
      import("./vision/embed-media.ts"),
      import("./vision/embed-media-options.ts"),
    ]);
    return { options: embedMediaOptions, check: checkEmbedMedia, run: embedMedia };
  },
};
