/** Every form of goldens that is known. */
import type { Format } from "../format.ts";
import { asr } from "./asr.ts";
import { clip } from "./clip.ts";
import { colbert } from "./colbert.ts";
import { crossEncoder } from "./cross-encoder.ts";
import { ctc } from "./ctc.ts";
import { embedding } from "./embedding.ts";
import { featureExtraction } from "./feature-extraction.ts";
import { ggufLlama } from "./gguf-llama.ts";
import { ggufBlocks, ggufTernary } from "./gguf-weights.ts";
import { imageClassification } from "./image-classification.ts";
import { imageToText } from "./image-to-text.ts";
import { magika } from "./magika.ts";
import { naturalLanguageInference } from "./nli.ts";
import { seq2seq } from "./seq2seq.ts";
import { splade } from "./splade.ts";
import { textClassification } from "./text-classification.ts";
import { textGeneration } from "./text-generation.ts";
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
  textGeneration,
  seq2seq,
  imageClassification,
  imageToText,
  clip,
  ctc,
  asr,
  ggufLlama,
  ggufBlocks,
  ggufTernary,
];
