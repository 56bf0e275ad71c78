/** Every form of goldens that is known: those that are compared, and those of tasks that are not built. */
import type { Format } from "../format.ts";
import { colbert } from "./colbert.ts";
import { crossEncoder } from "./cross-encoder.ts";
import { embedding } from "./embedding.ts";
import { featureExtraction } from "./feature-extraction.ts";
import { magika } from "./magika.ts";
import { naturalLanguageInference } from "./nli.ts";
import { splade } from "./splade.ts";
import { textClassification } from "./text-classification.ts";
import { tokenClassification } from "./token-classification.ts";

export const formats: readonly Format[] = [
  embedding,
  featureExtraction,
  textClassification,
  tokenClassification,
  crossEncoder,
  naturalLanguageInference,
  splade,
  colbert,
  magika,
];

/** The name of the goldens, and the task they are for. */
export const notBuilt: ReadonlyMap<string, string> = new Map([
  ["text-generation-goldens-v1", "text-generation"],
  ["seq2seq-goldens-v1", "text2text-generation"],
  ["asr-goldens-v1", "automatic-speech-recognition"],
  ["ctc-goldens-v1", "automatic-speech-recognition"],
  ["image-classification-goldens-v1", "image-classification"],
  ["image-to-text-goldens-v1", "image-to-text"],
  ["clip-goldens-v1", "zero-shot-image-classification"],
  ["gguf-llama-goldens-v1", "text-generation from GGUF"],
  ["gguf-blocks-v1", "reading the weights of GGUF"],
  ["i2_s-goldens-v1", "reading the weights of GGUF"],
]);
