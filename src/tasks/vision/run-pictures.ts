/** Pictures through a graph, in batches. */
import { at, omitUndefined } from "../../contract/checked.ts";
import type { ByteBudget } from "../../concurrency/byte-budget.ts";
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import { encodeFloat16 } from "../../contract/float16.ts";
import { type Tensor, type TensorInfo, type TensorMap, describeInfo } from "../../contract/tensor.ts";
import type { ImageSettings } from "../../processors/images/image-settings.ts";
import { type PixelBatch, joinPixels, processPictures } from "../../processors/images/process-pictures.ts";
import type { PictureSize } from "../../processors/images/resize-picture.ts";
import { readImageSettings } from "../../processors/images/read-image-settings.ts";
import type { LoadedGraph, MediaModel } from "../definition/media-task.ts";
import type { PictureSource } from "../../processors/images/picture-source.ts";
import { DecodeAhead, type PreparedPicture } from "./decode-ahead.ts";
import { withSamples } from "./picture-samples.ts";
import { type VisionOptions, backgroundColour } from "./vision-options.ts";

/** A graph that takes pictures, and how they are prepared for it. */
export interface PictureGraph {
  readonly graph: LoadedGraph;
  readonly settings: ImageSettings;
  /** The input with the pixel values. */
  readonly input: TensorInfo;
  /** The most pictures that it takes at once. */
  readonly maxBatch: number;
  /** Memory of decoded pictures. */
  readonly budget: ByteBudget;
}

/** A batch of pictures with what the graph computed of it. */
export interface PictureBatch {
  /** Index of the first picture of the batch. */
  readonly first: number;
  /** Their sizes as given. */
  readonly pictures: readonly PictureSize[];
  readonly pixels: PixelBatch;
  readonly outputs: TensorMap;
}

/** A batch ends with the picture that brings it to this many pixels, as the graph takes them. */
const maxBatchPixels = 32_000_000;

/** Names that exports give to pixel values. */
const pixelNames: ReadonlySet<string> = new Set(["pixel_values", "images", "image", "input"]);

/** The input for pixel values: by its name, else the only one of four axes. Throws MODEL_UNSUPPORTED if there is none. */
function findPixelInput({ inputs }: LoadedGraph): TensorInfo {
  const fitting = inputs.filter(({ shape }) => shape.length === 4);
  const input = fitting.find(({ name }) => pixelNames.has(name)) ?? fitting[0];
  if (input !== undefined) return input;
  const given = inputs.map((info) => `${info.name} ${describeInfo(info)}`).join(", ");
  throw new InferyardError("MODEL_UNSUPPORTED", `no input of this model takes pictures; it has ${given}`, {
    remedy: "use a model with an input of four axes: pictures, channels, height, width",
  });
}

/** Reads how pictures are prepared for a model. Throws MODEL_UNSUPPORTED where its files do not say it. */
export async function readPictureSettings(model: MediaModel): Promise<ImageSettings> {
  const stated = model.manifest.vision?.preprocessor;
  const [preprocessor, processor, config] = await Promise.all(
    ["preprocessor_config.json", "processor_config.json", "config.json"].map((file) => model.readJson(file)),
  );
  const settings = readImageSettings({ preprocessor, processor, config, stated });
  if (settings !== undefined) return settings;
  throw new InferyardError("MODEL_UNSUPPORTED", `${model.manifest.name} does not say how pictures are prepared`, {
    remedy: "put its preprocessor_config.json beside it, or state vision.preprocessor in its inferyard.json",
  });
}

/** Reads how pictures are prepared for a graph. Throws MODEL_UNSUPPORTED where the model's files do not say it. */
export async function preparePictureGraph(model: MediaModel, graph: LoadedGraph): Promise<PictureGraph> {
  const input = findPixelInput(graph);
  const settings = await readPictureSettings(model);
  const [batch, second, , last] = input.shape;
  const isLast = second !== 3 && second !== 1 && (last === 3 || last === 1);
  const channels = isLast ? last : second;
  return {
    graph,
    input,
    settings: { ...settings, channels: channels === 1 ? 1 : 3, layout: isLast ? "channels-last" : "channels-first" },
    maxBatch: typeof batch === "number" ? batch : Number.POSITIVE_INFINITY,
    budget: model.pictureBudget,
  };
}

/**
 * Runs pictures through a graph and calls `take` for each batch, in order. While the graph computes a batch, the pictures of the next one are decoded and prepared.
 * `others`: further inputs of each run.
 */
export async function runPictures(
  { graph, settings, input, maxBatch, budget }: PictureGraph,
  pictures: readonly PictureSource[],
  options: VisionOptions & { readonly outputs?: readonly string[]; readonly others?: TensorMap },
  take: (batch: PictureBatch) => void,
): Promise<void> {
  const { batchSize = 8, signal, outputs, others = {} } = options;
  const background = backgroundColour(options);
  const size = settings.padEnd === undefined ? Math.min(batchSize, maxBatch) : Math.min(1, maxBatch);
  const decoding = { channels: settings.channels, background, budget, signal };
  const decoder = new DecodeAhead(pictures.length, (index) =>
    withSamples(at(pictures, index), index, decoding, (samples) => ({
      size: { width: samples.width, height: samples.height },
      pixels: processPictures([samples], settings),
    })),
  );
  const compute = async (batch: Omit<PictureBatch, "outputs">): Promise<void> => {
    const { pixels } = batch;
    const tensors = { ...others, [input.name]: pixelTensor(pixels, input), ...maskTensor(graph, pixels) };
    const computed = await graph.run(tensors, omitUndefined({ outputs, signal }));
    take({ ...batch, outputs: computed });
  };
  let computing: Promise<void> = Promise.resolve();
  let first = 0;
  try {
    while (!decoder.isDone) {
      const prepared: PreparedPicture[] = [];
      for (let count = 0; !decoder.isDone && prepared.length < size && count < maxBatchPixels;) {
        throwIfAborted(signal);
        const picture = await decoder.next();
        count += picture.pixels.mask.length;
        prepared.push(picture);
      }
      throwIfAborted(signal);
      const pixels = joinPixels(prepared.map((picture) => picture.pixels));
      await computing;
      computing = compute({ first, pictures: prepared.map((picture) => picture.size), pixels });
      computing.catch(() => {}); // it is thrown where it is awaited
      first += prepared.length;
    }
    await computing;
  } finally {
    await computing.catch(() => {});
  }
}

/** The pixel values in the data type of an input. */
function pixelTensor({ shape, data }: PixelBatch, { name, dataType }: TensorInfo): Tensor {
  if (dataType === "float32") return { dataType, shape, data };
  if (dataType === "float16") return { dataType, shape, data: Uint16Array.from(data, encodeFloat16) };
  if (dataType === "uint8") return { dataType, shape, data: Uint8Array.from(data) };
  throw new InferyardError(
    "MODEL_UNSUPPORTED",
    `the input ${name} takes ${dataType}; allowed for pictures: float32, float16, uint8`,
  );
}

/** The mask of padding, for graphs that take one. */
function maskTensor({ inputs }: LoadedGraph, { mask, shape, placements }: PixelBatch): TensorMap {
  const info = inputs.find(({ name }) => name === "pixel_mask");
  if (info === undefined) return {};
  const height = shape[2];
  const width = shape[3];
  const size = [placements.length, height, width];
  if (info.dataType === "int64")
    return { pixel_mask: { dataType: "int64", shape: size, data: BigInt64Array.from(mask, BigInt) } };
  if (info.dataType === "float32") return { pixel_mask: { dataType: "float32", shape: size, data: Float32Array.from(mask) } };
  if (info.dataType === "bool") return { pixel_mask: { dataType: "bool", shape: size, data: mask } };
  throw new InferyardError("MODEL_UNSUPPORTED", `the input pixel_mask takes ${info.dataType}; allowed: int64, float32, bool`);
}
