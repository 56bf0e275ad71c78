/** Loads the files of a language model as the tensor models of a `TensorLanguageModel`. */
import type {
  FeatureShape,
  LanguageModel,
  LanguageModelFiles,
  LoadSettings,
  ModelFiles,
  TensorModel,
} from "../../contract/backend.ts";
import { unsupportedModel } from "../../contract/errors.ts";
import { contextLengthFor, getNumber } from "./cache-estimate.ts";
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
    const features = featuresOf(reader?.inputs, files.config);
    return new TensorLanguageModel({
      decoder,
      decoderWithPast: withPast,
      encoder: reader,
      contextLength: contextLengthFor(files.config, settings),
      features,
    });
  } catch (error) {
    await Promise.all(loaded.map((part) => part.dispose()));
    throw error;
  }
}

/** Name that transformers gives to the spectrogram that an encoder of speech reads. */
const spectrogramInput = "input_features";
/** Frames of a spectrogram for each position of the encoder's output: the stride of Whisper's convolutions. */
const framesPerPosition = 2;

/**
 * Shape of the features that an encoder takes; undefined for one that takes tokens. Sizes that the graph leaves free are read from config.json. Throws
 * MODEL_UNSUPPORTED for an encoder that takes anything but tokens or one spectrogram of a fixed length, such as a picture.
 */
function featuresOf(inputs: TensorModel["inputs"] = [], config: ModelFiles["config"]): FeatureShape | undefined {
  const other = inputs.find(({ dataType }) => !dataType.startsWith("int"));
  if (other === undefined) return undefined;
  const { name, dataType, shape } = other;
  const positions = getNumber(config, ["max_source_positions"]);
  const bins = typeof shape[1] === "number" ? shape[1] : getNumber(config, ["num_mel_bins"]);
  const frames = typeof shape[2] === "number" ? shape[2] : positions && positions * framesPerPosition;
  const isSpectrogram = name === spectrogramInput && dataType === "float32" && shape.length === 3 && inputs.length === 1;
  if (isSpectrogram && bins !== undefined && frames !== undefined) return { bins, frames };
  const message = `its encoder takes "${name}" (${dataType}), and tokens of a text or "${spectrogramInput}" of a fixed length are supported`;
  throw unsupportedModel(message, "use a model whose encoder takes input_ids or input_features");
}
