/** The files of a model with their digests, the types of its weights, and how many bytes of them a token needs. */
import { stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { LanguageModelFiles } from "../contract/backend.ts";
import { ggufNumber } from "../formats/gguf/gguf-metadata.ts";
import { type GgufModel, readGgufModel } from "../formats/gguf/models/read-model.ts";
import { readOnnxOutline } from "../formats/onnx/onnx-outline.ts";
import { pathsOfWeights, readWeightsHeader } from "../formats/safetensors/read-sharded.ts";
import { createDigestCache, computeDigest } from "../models/digest.ts";
import { getExternalFiles } from "../formats/onnx/external-files.ts";
import type { Variant } from "../models/manifest.ts";
import type { ReceiptFile, ReceiptModel } from "./receipt.ts";

/** Facts about a model's files in a receipt. */
export type ReceiptModelFacts = Pick<ReceiptModel, "files" | "weightTypes" | "weightBytesPerToken">;

/** Reads the files of a variant and computes their digests. Throws MODEL_INVALID for files that cannot be read. */
export async function readModelFacts(variant: Variant & LanguageModelFiles): Promise<ReceiptModelFacts> {
  const weights = await getWeights(variant);
  const cache = createDigestCache();
  const files: ReceiptFile[] = [];
  for (const path of new Set(weights.paths)) {
    const sha256 = await computeDigest({ path }, cache);
    files.push({ name: basename(path), bytes: (await stat(path)).size, sha256 });
  }
  const bytesByType = new Map<string, number>();
  for (const { type, bytes } of weights.tensors) bytesByType.set(type, (bytesByType.get(type) ?? 0) + bytes);
  const weightTypes = [...bytesByType].map(([type, bytes]) => ({ type, bytes })).sort((a, b) => b.bytes - a.bytes);
  return { files, weightTypes, weightBytesPerToken: bytesPerToken(weights, variant) };
}

interface WeightTensor {
  readonly name: string;
  readonly type: string;
  readonly dimensions: number;
  readonly elements: number;
  readonly bytes: number;
}

interface Weights {
  readonly paths: readonly string[];
  readonly tensors: readonly WeightTensor[];
  /** Share of the experts that a token uses. 1: the model has none. */
  readonly expertShare: number;
}

async function getWeights(variant: Variant & LanguageModelFiles): Promise<Weights> {
  const { path, format, decoderWithPast, encoder } = variant;
  switch (format) {
    case "gguf": {
      const model = await readGgufModel(path, path);
      const tensors = [...model.tensors.values()].map(({ name, type, shape, elements, bytes }) => ({
        name,
        type,
        dimensions: shape.filter((size) => size > 1).length,
        elements,
        bytes,
      }));
      return { paths: model.paths, tensors, expertShare: expertShare(model) };
    }
    case "safetensors": {
      const header = await readWeightsHeader(path);
      const tensors = [...header.tensors.values()].map(({ name, type, shape, start, end }) => ({
        name,
        type,
        dimensions: shape.length,
        elements: shape.reduce((product, size) => product * size, 1),
        bytes: end - start,
      }));
      return { paths: await pathsOfWeights(path), tensors, expertShare: 1 };
    }
    case "onnx": {
      const graphs = [path, decoderWithPast, encoder].filter((each) => each !== undefined);
      const external = await Promise.all(graphs.map(externalPaths));
      return { paths: [...graphs, ...external.flat()], tensors: [], expertShare: 1 };
    }
  }
}

async function externalPaths(path: string): Promise<string[]> {
  const names = getExternalFiles(await readOnnxOutline(path, path)).keys();
  return [...names].map((name) => join(dirname(path), name));
}

function expertShare({ architecture, metadata }: GgufModel): number {
  const count = ggufNumber(metadata, `${architecture}.expert_count`);
  const used = ggufNumber(metadata, `${architecture}.expert_used_count`);
  return count === undefined || used === undefined || count === 0 ? 1 : Math.min(1, used / count);
}

/**
 * A lower bound: matrices are read whole for each token, except the table of embeddings where the output has a matrix of its own, and experts that a token does
 * not use. Weights that are packed while loading count as packed.
 */
function bytesPerToken({ tensors, expertShare: share }: Weights, { packing }: Variant): number | null {
  if (tensors.length === 0) return null;
  const isOutput = ({ name }: WeightTensor): boolean => /^output\.weight$|lm_head|embed_out/.test(name);
  const isTable = ({ name }: WeightTensor): boolean => /embd|embed|wte|wpe/.test(name);
  const hasOutput = tensors.some(isOutput);
  const bytesPerWeight = packing === undefined ? undefined : { int8: 1, int4: 0.5 }[packing.to];
  let sum = 0;
  for (const tensor of tensors) {
    if (tensor.dimensions < 2 || (hasOutput && isTable(tensor) && !isOutput(tensor))) continue;
    if (!hasOutput && /position|wpe|token_types|token_type/.test(tensor.name)) continue;
    const bytes = bytesPerWeight === undefined ? tensor.bytes : Math.min(tensor.bytes, tensor.elements * bytesPerWeight);
    sum += /_exps\./.test(tensor.name) ? bytes * share : bytes;
  }
  return Math.floor(sum);
}
