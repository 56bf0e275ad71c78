/** Loads the files of a language model as the tensor models of a `TensorLanguageModel`. */
import type { LanguageModel, LanguageModelFiles, LoadSettings, ModelFiles, TensorModel } from "../../contract/backend.ts";
import { contextLengthFor } from "./cache-estimate.ts";
import { TensorLanguageModel } from "./tensor-language-model.ts";

/** Loads each file with `load`. If one fails, those that were loaded before are disposed. `settings`: those of the load. */
export async function loadLanguageModel(
  { decoderWithPast, encoder, ...files }: LanguageModelFiles,
  settings: LoadSettings,
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
      contextLength: contextLengthFor(files.config, settings),
    });
  } catch (error) {
    await Promise.all(loaded.map((part) => part.dispose()));
    throw error;
  }
}
