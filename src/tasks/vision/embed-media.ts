/** Embeddings of texts and pictures in one space, by a model that reads both (CLIP, SigLIP), and of pictures alone. */
import { InferyardError } from "../../contract/errors.ts";
import { type TensorInfo, type TensorMap, zeros } from "../../contract/tensor.ts";
import { toFloat32 } from "../../contract/to-float32.ts";
import { checkOptions } from "../../runtime/options/option.ts";
import type { LoadedGraph, MediaModel } from "../definition/media-task.ts";
import type { Embeddings } from "../embedding/embeddings.ts";
import { requireFinite } from "../encoding/require-finite.ts";
import { type EmbedMediaOptions, embedMediaOptions } from "./embed-media-options.ts";
import type { PictureSource } from "../../processors/images/picture-source.ts";
import { preparePictureGraph, runPictures } from "./run-pictures.ts";
import { emptyTexts, tokenizeTexts } from "./text-batch.ts";
import { requirePictures } from "./vision-options.ts";

/** A text or a picture. A string is a text. */
export type MediaInput = string | { readonly text: string } | { readonly image: PictureSource };

/** The outputs with a vector per input, in order of preference: projected into the common space, first before vectors are scaled to unit length, then pooled. */
const textOutputs = ["text_features", "text_embeds", "pooler_output"];
const imageOutputs = ["image_features", "image_embeds", "pooler_output"];

/** Throws INPUT_INVALID for inputs and options that no model can obey. */
export function checkEmbedMedia(inputs: readonly MediaInput[], options: EmbedMediaOptions): void {
  checkOptions(embedMediaOptions, options);
  requirePictures(inputs);
  for (const [index, input] of inputs.entries()) {
    const isText = typeof input === "string" || (isPart(input, "text") && typeof input.text === "string");
    if (!isText && !isPart(input, "image"))
      throw new InferyardError("INPUT_INVALID", `input ${index} is neither a text nor { text } nor { image }`);
  }
}

function isPart<Name extends "text" | "image">(input: unknown, name: Name): input is Record<Name, unknown> {
  return typeof input === "object" && input !== null && name in input;
}

/** Embeds texts and pictures. Throws MODEL_UNSUPPORTED for a model that has no vectors of the one or the other. */
export async function embedMedia(
  model: MediaModel,
  inputs: readonly MediaInput[],
  options: EmbedMediaOptions,
): Promise<Embeddings> {
  const texts = inputs.flatMap((input, index) => {
    if (typeof input === "string") return [{ index, text: input }];
    return "text" in input ? [{ index, text: input.text }] : [];
  });
  const pictures = inputs.flatMap((input, index) =>
    typeof input === "object" && "image" in input ? [{ index, image: input.image }] : [],
  );
  const vectors: Float32Array[] = [];
  const tokens = inputs.map(() => 0);
  const truncated: number[] = [];
  if (texts.length > 0) {
    const graph = model.hasPart("text_model") ? await model.part("text_model") : await model.main();
    const batch = await embedTexts(
      model,
      graph,
      texts.map(({ text }) => text),
      options.signal,
    );
    for (const [row, { index }] of texts.entries()) {
      vectors[index] = batch.vectors[row] ?? new Float32Array(0);
      tokens[index] = batch.tokens[row] ?? 0;
    }
    truncated.push(...batch.truncated.map((row) => texts[row]?.index ?? 0));
  }
  if (pictures.length > 0) {
    const graph = model.hasPart("vision_model") ? await model.part("vision_model") : await model.main();
    const found = await embedPictures(
      model,
      graph,
      pictures.map(({ image }) => image),
      options,
    );
    for (const [row, { index }] of pictures.entries()) vectors[index] = found[row] ?? new Float32Array(0);
  }
  const embeddings = vectors.map((vector, index) => finish(vector, index, options));
  return { embeddings, dimensions: embeddings[0]?.length ?? 0, tokens, truncated };
}

/** Cuts and scales a vector. */
function finish(
  vector: Float32Array,
  index: number,
  { dimensions = vector.length, normalize = true }: EmbedMediaOptions,
): Float32Array {
  if (dimensions > vector.length)
    throw new InferyardError("INPUT_INVALID", `dimensions is ${dimensions}, and the model has ${vector.length}`);
  requireFinite(vector, index, "picture");
  const kept = vector.slice(0, dimensions);
  if (!normalize) return kept;
  const norm = Math.sqrt(kept.reduce((sum, value) => sum + value * value, 0));
  return norm === 0 ? kept : kept.map((value) => value / norm);
}

/** The output with a vector per input, by name. */
function findVectors(model: MediaModel, outputs: readonly TensorInfo[], names: readonly string[], what: string): string {
  const name = names.find((wanted) => outputs.some((output) => output.name === wanted && output.shape.length === 2));
  if (name !== undefined) return name;
  throw new InferyardError(
    "MODEL_UNSUPPORTED",
    `${model.manifest.name} has no vectors of ${what}: it has no output ${names.join(" or ")}`,
    {
      remedy: "use an export with text_embeds and image_embeds, or text_model.onnx and vision_model.onnx",
    },
  );
}

/** Rows of a two-dimensional output. */
function rowsOf(outputs: TensorMap, name: string): Float32Array[] {
  const tensor = outputs[name];
  if (tensor === undefined) return [];
  const [rows = 0, width = 0] = tensor.shape;
  const data = toFloat32(tensor);
  return Array.from({ length: rows }, (_, row) => data.slice(row * width, (row + 1) * width));
}

/** Texts of one batch. */
const textBatch = 32;

async function embedTexts(
  model: MediaModel,
  graph: LoadedGraph,
  texts: readonly string[],
  signal: AbortSignal | undefined,
): Promise<{ readonly vectors: Float32Array[]; readonly tokens: number[]; readonly truncated: number[] }> {
  const output = findVectors(model, graph.outputs, textOutputs, "texts");
  const vectors: Float32Array[] = [];
  const tokens: number[] = [];
  const truncated: number[] = [];
  for (let first = 0; first < texts.length; first += textBatch) {
    const batch = await tokenizeTexts(model, graph.inputs, texts.slice(first, first + textBatch), signal);
    const outputs = await graph.run(
      { ...batch.tensors, ...blankPictures(graph) },
      { outputs: [output], ...(signal === undefined ? {} : { signal }) },
    );
    vectors.push(...rowsOf(outputs, output));
    tokens.push(...batch.tokens);
    truncated.push(...batch.truncated.map((row) => first + row));
  }
  return { vectors, tokens, truncated };
}

/** One black picture for a joint graph, which computes both sides. */
function blankPictures({ inputs }: LoadedGraph): TensorMap {
  const info = inputs.find(({ shape }) => shape.length === 4);
  if (info === undefined) return {};
  const sides = info.shape.map((size, axis) => (typeof size === "number" ? size : axis === 0 ? 1 : axis === 1 ? 3 : undefined));
  if (sides.includes(undefined))
    throw new InferyardError(
      "MODEL_UNSUPPORTED",
      "the joint graph does not state the size of its pictures, which its texts need as well",
      {
        remedy: "use an export with text_model.onnx",
      },
    );
  return { [info.name]: zeros(info.dataType, sides.map(Number)) };
}

async function embedPictures(
  model: MediaModel,
  graph: LoadedGraph,
  pictures: readonly PictureSource[],
  options: EmbedMediaOptions,
): Promise<Float32Array[]> {
  const output = findVectors(model, graph.outputs, imageOutputs, "pictures");
  const prepared = await preparePictureGraph(model, graph);
  const others = await emptyTexts(model, graph.inputs, options.signal);
  const vectors: Float32Array[] = [];
  await runPictures(prepared, pictures, { ...options, outputs: [output], others }, ({ outputs }) => {
    vectors.push(...rowsOf(outputs, output));
  });
  return vectors;
}
