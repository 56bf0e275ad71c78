/** Requests and results of the runtime's methods on pictures. */
import type { PictureSource } from "../../processors/images/picture-source.ts";
import type { Embeddings } from "../../tasks/embedding/embeddings.ts";
import type { ClassifyImageOptions } from "../../tasks/vision/classify-image-options.ts";
import type { ImageClassifications } from "../../tasks/vision/classify-image.ts";
import type { DetectObjectsOptions } from "../../tasks/vision/detect-objects-options.ts";
import type { DetectedObjects } from "../../tasks/vision/detect-objects.ts";
import type { EmbedMediaOptions } from "../../tasks/vision/embed-media-options.ts";
import type { ImageFeatures, ImageFeaturesOptions } from "../../tasks/vision/image-features.ts";
import type { TaskRequest, TaskRun } from "../task-requests.ts";

/** One picture, or several. */
export type Pictures = PictureSource | readonly PictureSource[];

/** Options of `classifyImage`. */
export type ClassifyImageRequest = TaskRequest<ClassifyImageOptions>;

/** Result of `classifyImage`: labels with scores per picture. */
export interface ClassifyImageResult extends ImageClassifications, TaskRun {}

/** Options of `detectObjects`. */
export type DetectObjectsRequest = TaskRequest<DetectObjectsOptions>;

/** Result of `detectObjects`: things with labels, scores and boxes per picture. */
export interface DetectObjectsResult extends DetectedObjects, TaskRun {}

/** Options of `imageFeatures`. */
export type ImageFeaturesRequest = TaskRequest<ImageFeaturesOptions>;

/** Result of `imageFeatures`. */
export interface ImageFeaturesResult extends ImageFeatures, TaskRun {}

/** Options of `embed` for pictures, and for texts on a model that compares them with pictures. */
export type EmbedMediaRequest = TaskRequest<EmbedMediaOptions>;

/** Result of `embed` for pictures: one float32 vector per input, in the space in which the model embeds texts. */
export interface EmbedMediaResult extends Embeddings, TaskRun {}
