/** Loads the files of a language model as the tensor models of a `TensorLanguageModel`. */
import type { LanguageModel, LanguageModelFiles, LoadSettings, ModelFiles, TensorModel } from "../../contract/backend.ts";
import { unsupportedModel } from "../../contract/errors.ts";
import { contextLengthFor } from "./cache-estimate.ts";
import { TensorLanguageModel } from "./tensor-language-model.ts";

/** Loads each file with `load`. If one fails, the models loaded before it are disposed. `settings`: settings of the load. */
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
    const decoder = await loadPart(files);
    const withPast = await beside(decoderWithPast);
    const reader = await beside(encoder);
    requireTextEncoder(reader?.inputs);
    return new TensorLanguageModel({
      decoder,
      decoderWithPast: withPast,
      encoder: reader,
      contextLength: contextLengthFor(files.config, settings),
    });
  } catch (error) {
    await Promise.all(loaded.map((part) => part.dispose()));
    throw error;
  }
}

/** Throws MODEL_UNSUPPORTED for an encoder that takes anything but tokens: sound or a picture. */
function requireTextEncoder(inputs: TensorModel["inputs"] = []): void {
  const other = inputs.find(({ dataType }) => !dataType.startsWith("int"));
  if (other === undefined) return;
  const message = `its encoder takes "${other.name}" (${other.dataType}), which is sound or a picture, and no tokens of a text`;
  throw unsupportedModel(message, "use a model whose encoder takes input_ids");
}
