/** The files of weights to request, in order: those that manifests name, or else the names that exports on Hugging Face have. */
import { omitUndefined } from "../../../contract/checked.ts";
import { nameVariants } from "../../../models/manifest/variant-names.ts";
import { getFormat } from "../../../models/manifest/weights.ts";
import type { ManifestFiles } from "./manifest-files.ts";

/** A file of weights that a browser requests from the server, which cannot list its files. */
export interface WeightsCandidate {
  /** Relative to the model's folder. */
  readonly file: string;
  readonly stated?: { readonly size?: number; readonly sha256?: string };
  /** Files that are fetched with it: the other graphs of a model that has several. */
  readonly others?: readonly string[];
}

/** Graphs of models that have two, without their suffixes: an encoder with its decoder, and pictures with texts. */
const pairs = [
  ["encoder_model", "decoder_model_merged"],
  ["vision_model", "text_model"],
] as const;

/** Suffixes of variants, in the order in which a disk's variants are offered. */
const suffixes = ["", "_fp32", "_fp16", "_bf16", "_int8", "_uint8", "_quantized", "_q4", "_q4f16", "_bnb4"];

/**
 * The files of weights to request, in order; the first that exists on the server is used. With a `variant` only the files that it can mean; otherwise full
 * precision comes before smaller weights.
 */
export function weightsCandidates(stated: ManifestFiles, variant: string | undefined): WeightsCandidate[] {
  if (stated.weights.length > 0) return statedWeights(stated, variant);
  if (stated.isStatic) return inFolders(stated.inner, "model.safetensors");
  const wanted = suffixes
    .map((suffix) => `model${suffix}.onnx`)
    .filter((file) => variant === undefined || isCalled(file, variant));
  const named = variant === undefined || variant === "safetensors" || wanted.length > 0 ? [] : [`${variant}.onnx`];
  const graphs = [...wanted, ...named].flatMap((file) => [...inFolders("onnx", file), ...inFolders(stated.inner, file)]);
  const transformer = variant === undefined || variant === "safetensors" ? inFolders(stated.inner, "model.safetensors") : [];
  return [...graphs, ...transformer];
}

/** The files of models with two graphs, which are requested where there is no single one and no manifest names any. A variant names the suffix of both. */
export function graphPairs({ weights, isStatic, inner }: ManifestFiles, variant: string | undefined): WeightsCandidate[] {
  if (weights.length > 0 || isStatic) return [];
  const wanted = suffixes.filter((suffix) => variant === undefined || isCalled(`model${suffix}.onnx`, variant));
  return wanted.flatMap((suffix) =>
    pairs.flatMap(([first, second]) =>
      ["onnx", inner].map((folder) => {
        const path = (name: string): string => `${folder === "" ? "" : `${folder}/`}${name}${suffix}.onnx`;
        return { file: path(first), others: [path(second)] };
      }),
    ),
  );
}

/** A browser has engines for these two formats. */
function statedWeights({ weights }: ManifestFiles, variant: string | undefined): WeightsCandidate[] {
  const runnable = weights.filter(({ file, format = getFormat(file) }) => format === "onnx" || format === "safetensors");
  const wanted = variant === undefined ? runnable : weights.filter(({ names }) => names.includes(variant));
  return wanted.map(({ file, size, sha256 }) => ({
    file,
    stated: { ...omitUndefined({ size, sha256 }) },
  }));
}

function inFolders(folder: string, file: string): WeightsCandidate[] {
  return [{ file: folder === "" ? file : `${folder}/${file}` }];
}

function isCalled(file: string, variant: string): boolean {
  const [named] = nameVariants([{ file }]);
  return named !== undefined && (named.name === variant || named.aliases.includes(variant));
}
