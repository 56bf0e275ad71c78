/** Texts as tensors of a model that compares them with pictures. */
import type { TensorInfo, TensorMap } from "../../contract/tensor.ts";
import type { Manifest } from "../../models/manifest.ts";
import { encoderInputs } from "../encoding/encoder-inputs.ts";
import { encodeTexts } from "../encoding/encode-texts.ts";
import { textSettings } from "../encoding/text-settings.ts";
import type { MediaModel } from "../definition/media-task.ts";

/** The tensors of a batch of texts, and how many tokens each text has. */
export interface TextBatch {
  readonly tensors: TensorMap;
  readonly tokens: readonly number[];
  /** Indices of texts that were cut at the model's limit. */
  readonly truncated: readonly number[];
}

/** Whether texts are padded to the model's limit, as SigLIP was trained with, instead of to the longest one. */
export function isSiglip({ variants }: Pick<Manifest, "variants">): boolean {
  const type = variants[0]?.config["model_type"];
  return typeof type === "string" && type.startsWith("siglip");
}

/** Tokenizes texts for the text inputs among `inputs`. */
export async function tokenizeTexts(
  model: MediaModel,
  inputs: readonly TensorInfo[],
  texts: readonly string[],
  signal?: AbortSignal,
): Promise<TextBatch> {
  const tokenizer = await model.tokenizer();
  const limit = textSettings(model.manifest).maxTokens ?? (isSiglip(model.manifest) ? 64 : 77);
  const encodings = await encodeTexts(tokenizer, texts, { maxTokens: limit, truncate: "cut" }, signal);
  const longest = Math.max(...encodings.map(({ ids }) => ids.length));
  const length = isSiglip(model.manifest) ? limit : longest;
  const textInputs = inputs.filter(({ shape }) => shape.length === 2);
  return {
    tensors: encoderInputs(textInputs, { rows: encodings.map(({ ids }) => ({ ids })), length, padId: tokenizer.padId }),
    tokens: encodings.map(({ ids }) => ids.length),
    truncated: encodings.flatMap(({ truncated }, index) => (truncated ? [index] : [])),
  };
}

/** One empty text for a joint graph of which pictures alone are wanted; nothing for a graph without inputs of texts. */
export async function emptyTexts(model: MediaModel, inputs: readonly TensorInfo[], signal?: AbortSignal): Promise<TensorMap> {
  if (!inputs.some(({ shape }) => shape.length === 2)) return {};
  return (await tokenizeTexts(model, inputs, [""], signal)).tensors;
}
