/**
 * GGUF models in the terms of Hugging Face transformers: the class of an architecture of llama.cpp, its config.json, and the names of its tensors in a
 * safetensors file. Sources: `convert_hf_to_gguf.py` and gguf-py/gguf/constants.py of https://github.com/ggml-org/llama.cpp, and src/llama-model.cpp for
 * what the metadata does not state.
 */
import { modelInvalid } from "../../format-errors.ts";
import { ggufNumber } from "../gguf-metadata.ts";
import { type GgufArchitecture, hasTensor, type HuggingFaceConfig } from "./architecture.ts";
import { decoders } from "./decoder-architectures.ts";
import { encoders } from "./encoder-architectures.ts";
import { ropeFactors } from "./rope-scaling.ts";
import { GgufSettings } from "./settings.ts";
import type { GgufModel } from "./read-model.ts";

/** The architectures by `general.architecture`. */
const architectures: Readonly<Record<string, GgufArchitecture>> = { ...decoders, ...encoders };

/** The translation of a model, or undefined if its architecture has none here. */
export function ggufArchitecture({ architecture }: Pick<GgufModel, "architecture">): GgufArchitecture | undefined {
  return Object.hasOwn(architectures, architecture) ? architectures[architecture] : undefined;
}

/** How the vectors of tokens are combined into one, as `{architecture}.pooling_type` states it. Undefined: the file states nothing. */
export type GgufPooling = "none" | "mean" | "cls" | "last" | "rank";

const poolings: readonly GgufPooling[] = ["none", "mean", "cls", "last", "rank"];

/** The pooling stated in the metadata. Throws MODEL_INVALID for an undefined number; -1 means that none is stated. */
export function ggufPooling({ architecture, metadata }: Pick<GgufModel, "architecture" | "metadata">): GgufPooling | undefined {
  const key = `${architecture}.pooling_type`;
  const number = ggufNumber(metadata, key);
  if (number === undefined || number === -1) return undefined;
  const pooling = poolings[number];
  if (pooling !== undefined) return pooling;
  throw modelInvalid(
    `the metadata has "${key}": ${number}, and known are 0 to ${poolings.length - 1}`,
    "convert the model again",
  );
}

/**
 * The class and configuration of a model as Hugging Face transformers has them, or undefined for an architecture that is not translated. A model that
 * states a pooling is an encoder. Throws MODEL_INVALID if the metadata lacks a setting, and MODEL_UNSUPPORTED for one that has no counterpart.
 */
export async function huggingFaceModel(
  model: GgufModel,
): Promise<{ readonly className: string; readonly config: HuggingFaceConfig } | undefined> {
  const architecture = ggufArchitecture(model);
  if (architecture === undefined) return undefined;
  const { family, generator, encoder = `${family}Model` } = architecture;
  const pooling = ggufPooling(model);
  const settings = new GgufSettings(model);
  const config = { ...architecture.config(settings, model), ...(await ropeFactors(settings, model)) };
  if (pooling === "rank" && hasTensor(model, "cls.output.weight")) {
    const labels = model.tensors.get("cls.output.weight")?.shape[1] ?? 1;
    return { className: `${family}ForSequenceClassification`, config: { ...config, num_labels: labels } };
  }
  const isEncoder = generator === undefined || (pooling !== undefined && pooling !== "none");
  return { className: isEncoder ? encoder : `${family}${generator}`, config };
}
