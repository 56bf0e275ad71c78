/**
 * Reads genai_config.json of onnxruntime-genai: which files are the decoder and the encoder, which tokens begin and end texts, and how they are drawn.
 * Folders of that program often have no config.json.
 */
import { modelInvalid } from "../../formats/format-errors.ts";
import { displayNameIn, type Folder, isJsonObject, type JsonObject, readJsonObject, omitNullish } from "../model-folder.ts";

/** Content of genai_config.json. */
export interface GenaiConfig {
  /** The settings under the names of config.json, for folders without that file. */
  readonly config: JsonObject;
  /** The settings of generation under the names of generation_config.json. */
  readonly generation: JsonObject;
  /** The decoder's file, relative to the folder. */
  readonly decoder?: string;
  /** Names of Hugging Face tasks; empty for models of images or sound. */
  readonly tasks: readonly string[];
}

/** Fields of "search" that mean the same in generation_config.json. */
const searchNames = [
  "do_sample",
  "temperature",
  "top_k",
  "top_p",
  "repetition_penalty",
  "no_repeat_ngram_size",
  "num_beams",
  "length_penalty",
  "early_stopping",
  "diversity_penalty",
  "min_length",
  "max_length",
] as const;
const tokenNames = ["bos_token_id", "eos_token_id", "pad_token_id", "decoder_start_token_id"] as const;

/** Reads the file, if there is one. Throws MODEL_INVALID if it describes no model. */
export async function readGenaiConfig(folder: Folder): Promise<GenaiConfig | undefined> {
  const stated = await readJsonObject(folder, "genai_config.json");
  if (stated === undefined) return undefined;
  const { model, search } = stated;
  if (!isJsonObject(model) || !isJsonObject(model["decoder"]))
    throw modelInvalid(
      `${displayNameIn(folder, "genai_config.json")} has no model with a decoder`,
      "correct the file, or remove it",
    );
  const { type, vocab_size, context_length, decoder, encoder } = model;
  const tokens = pick(model, tokenNames);
  const isOfTokens = type !== "whisper" && !["vision", "speech", "embedding"].some((part) => isJsonObject(model[part]));
  const { filename } = decoder;
  return {
    config: omitNullish({ model_type: type, vocab_size, max_position_embeddings: context_length, ...tokens }),
    generation: { ...pick(isJsonObject(search) ? search : {}, searchNames, context_length), ...tokens },
    tasks: isOfTokens ? [isJsonObject(encoder) ? "text2text-generation" : "text-generation"] : [],
    ...(typeof filename === "string" ? { decoder: filename } : {}),
  };
}

/** The fields with these names, except fields that are null. A maximum length of the whole context states nothing. */
function pick(fields: JsonObject, names: readonly string[], contextLength?: unknown): JsonObject {
  const { max_length: longest } = fields;
  const present = names.map((name): [string, unknown] => [name, fields[name]]);
  return omitNullish(Object.fromEntries(present.filter(([name]) => name !== "max_length" || longest !== contextLength)));
}
