/** Loads the files of a language model as the tensor models of a `TensorLanguageModel`. */
import type { LanguageModel, LanguageModelFiles, ModelFiles, TensorModel } from "../../backend.ts";
import { TensorLanguageModel } from "./tensor-language-model.ts";

/** Fields of config.json that hold the maximum number of tokens, as architectures name it. */
const contextFields = [
  "max_position_embeddings",
  "n_positions",
  "n_ctx",
  "max_seq_len",
  "seq_length",
  "max_sequence_length",
] as const;

/** Loads each file with `load`. If one fails, those that were loaded before are disposed. */
export async function loadLanguageModel(
  { decoderWithPast, encoder, ...files }: LanguageModelFiles,
  load: (model: ModelFiles) => Promise<TensorModel>,
): Promise<LanguageModel> {
  const loaded: TensorModel[] = [];
  const loadPart = async (model: ModelFiles): Promise<TensorModel> => {
    const part = await load(model);
    loaded.push(part);
    return part;
  };
  const beside = async (path: string | undefined): Promise<TensorModel | undefined> =>
    path === undefined ? undefined : loadPart({ ...files, path, bytes: 0 }); // the bytes of all files are those of the decoder
  try {
    return new TensorLanguageModel({
      decoder: await loadPart(files),
      decoderWithPast: await beside(decoderWithPast),
      encoder: await beside(encoder),
      contextLength: contextLengthOf(files.config),
    });
  } catch (error) {
    await Promise.all(loaded.map((part) => part.dispose()));
    throw error;
  }
}

/** Maximum number of tokens of a sequence, as config.json states it. Undefined for models without a limit, such as T5. */
export function contextLengthOf(config: ModelFiles["config"]): number | undefined {
  const sections = [config["text_config"], config].filter((section) => typeof section === "object" && section !== null);
  for (const section of sections) {
    for (const field of contextFields) {
      const value = (section as ModelFiles["config"])[field];
      if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
    }
  }
  return undefined;
}
