/** Selects the files of a repository that are fetched: those that describe the model, and the weights of one variant. */
import { mergesFile, vocabularyFiles } from "../huggingface/tokenizer-file.ts";
import { basename, dirname } from "node:path/posix";
import { InferyardError } from "../../contract/errors.ts";
import { entryKey } from "../aimod/entry-name.ts";
import { mainTemplateFile, namedTemplateFile, namedTemplatesFolder } from "../huggingface/chat-templates.ts";
import { hasName } from "../store/locate.ts";
import type { StoredVariant } from "../store/model-record.ts";
import { nameVariants } from "../manifest/variant-names.ts";
import { getFormat, missingWeights, selectWeightFiles, weightFolders } from "../manifest/weights.ts";
import { isSafetensorsIndex } from "../../formats/safetensors/read-sharded.ts";
import type { HubFile } from "./listing.ts";

/** Names of files that describe a model. */
const descriptionNames: ReadonlySet<string> = new Set([
  "config.json",
  "gliner_config.json",
  "artifact.metadata",
  "generation_config.json",
  "genai_config.json",
  "preprocessor_config.json",
  "processor_config.json",
  "tokenizer.json",
  "tokenizer_config.json",
  "special_tokens_map.json",
  "alphabet.json",
  "added_tokens.json",
  "chat_template.json",
  mainTemplateFile,
  "modules.json",
  "config_sentence_transformers.json",
  "router_config.json",
  "sparse_linear.safetensors",
  "colbert_linear.safetensors",
]);
/** Vocabularies, which are fetched where there is no tokenizer.json beside them. */
const vocabularyNames: ReadonlySet<string> = new Set([...vocabularyFiles, mergesFile]);
/** Names of describing files that vary: sentence_bert_config.json, README.md, ... */
const descriptionPattern = /^(sentence_\w+_config\.json|(LICENSE|LICENCE|NOTICE|README)(\.\w+)?)$/i;
/** The folder of a model of CTC with its words and n-grams. */
const wordsFolder = "language_model";
/** Names of the folders of sentence-transformers' modules: 1_Pooling, 0_Transformer, and document_0_Transformer of a Router. */
const moduleFolder = /^(query_|document_)?\d+_\w+$/;

/** Manifests that may name any file of the repository. A repository with one is fetched as a whole. */
const repositoryManifests: ReadonlySet<string> = new Set(["inferyard.json", "model_manifest.json"]);
/** Weights in formats of other programs, and folders of such weights. */
const foreignWeights =
  /\.(bin|h5|msgpack|ot|pt|pth|ckpt|tflite|pb|mlmodel|npz|pkl|joblib|keras|llamafile|arrow|parquet)$|(^|\/)(openvino|coreml|\.[^/]*)\//i;

/**
 * Selects the files of a repository that describe the model (config.json, tokenizer.json, README.md, ...). They are fetched
 * before the weights are selected.
 */
export function descriptionFiles(files: readonly HubFile[]): HubFile[] {
  const found = files.filter(({ path }) => {
    const [folder, name] = [dirname(path), basename(path)];
    if (folder === "." && repositoryManifests.has(name)) return true;
    if (folder === wordsFolder) return true;
    if (folder === namedTemplatesFolder) return namedTemplateFile.test(name);
    if (folder !== "." && !moduleFolder.test(folder)) return false;
    if (vocabularyNames.has(name))
      return !files.some((other) => other.path === `${folder === "." ? "" : `${folder}/`}tokenizer.json`);
    return descriptionNames.has(name) || descriptionPattern.test(name);
  });
  // LICENSE and license are one file on file systems that ignore case.
  return found.filter(({ path }, index) => found.findIndex((other) => entryKey(other.path) === entryKey(path)) === index);
}

/** Facts from a repository's configuration files about the place of its weights. */
export interface ModelShape {
  /** Folder of the first module; "" is the model's folder. */
  readonly modelPath: string;
  /** Whether the model is a table of token vectors. */
  readonly isStatic: boolean;
  /** Paths of the weights of the modules after pooling. */
  readonly moduleWeights: readonly string[];
}

/** The variant that a pull fetches, with its files. */
export interface WeightSelection {
  /** Name of the selected variant; absent for a repository with a manifest, which is fetched as a whole. */
  readonly variant?: StoredVariant;
  readonly files: readonly HubFile[];
}

/**
 * Selects the weights of the variant `wanted` among the files of a repository; without it, the weights of the variant that a load would prefer. `displayName`
 * names the model in messages. Throws MODEL_UNSUPPORTED or MODEL_NOT_FOUND if the repository has no weights in a supported format, and MODEL_NOT_FOUND if it
 * has no such variant.
 */
export function selectWeights(
  displayName: string,
  files: readonly HubFile[],
  shape: ModelShape,
  wanted?: string,
): WeightSelection {
  if (files.some(({ path }) => repositoryManifests.has(path)))
    return { files: files.filter(({ path }) => !foreignWeights.test(path)) };
  const paths = pathsIn(files, shape.modelPath);
  const variants = variantsAmong(paths, shape.isStatic);
  const variant =
    wanted === undefined ? defaultVariant(displayName, variants, files, paths) : variants.find((one) => hasName(one, wanted));
  if (variant === undefined) throw noVariant(displayName, variants, wanted ?? "", files, paths);
  const needed = new Set(variant.files);
  return { variant, files: files.filter(({ path }) => needed.has(path)) };
}

function pathsIn(files: readonly HubFile[], modelPath: string): string[] {
  return weightFolders(modelPath).flatMap((folder) =>
    files
      .map(({ path }) => path)
      .filter((path) => (dirname(path) === "." ? "" : dirname(path)) === folder)
      .sort(),
  );
}

/** The variants in the order in which a load prefers them, each with all files of its weights. */
function variantsAmong(paths: readonly string[], isStatic: boolean): StoredVariant[] {
  const weights = selectWeightFiles(paths, isStatic).filter((path) => !isLaterShard(path));
  const named = nameVariants(weights.map((file) => ({ file })));
  return named.map(({ name, aliases, file }) => ({
    name: withoutShard(name),
    aliases,
    files: [file, ...companionFiles(file, paths)],
  }));
}

const safetensorsShard = /-\d{5}-of-\d{5}\.safetensors$/;

/** A split GGUF file is one variant: gguf-split of llama.cpp names its parts -00001-of-00003. */
const shardSuffix = /-(\d{5})-of-(\d{5})(?=\.gguf$|$)/;

function isLaterShard(path: string): boolean {
  const number = shardSuffix.exec(path)?.[1];
  return path.endsWith(".gguf") && number !== undefined && number !== "00001";
}

function withoutShard(name: string): string {
  return name.replace(shardSuffix, "");
}

/** Other files of the same weights: external data of an ONNX graph (model.onnx_data, model.onnx_data_1, model.onnx.data, model.data), or the parts of a split GGUF or of safetensors with an index. */
function companionFiles(file: string, paths: readonly string[]): string[] {
  if (file.endsWith(".gguf"))
    return paths.filter((path) => path !== file && path.replace(shardSuffix, "") === file.replace(shardSuffix, ""));
  if (isSafetensorsIndex(file)) {
    const stem = file.slice(0, -".safetensors.index.json".length);
    return paths.filter((path) => path.startsWith(`${stem}-`) && safetensorsShard.test(path));
  }
  if (!file.endsWith(".onnx")) return [];
  const stem = file.slice(0, -".onnx".length);
  return paths.filter(
    (path) =>
      (path.startsWith(`${file}_data`) || path === `${file}.data` || path === `${stem}.data`) && getFormat(path) === undefined,
  );
}

/** Conventional names of weights. A repository with several of them has a default variant. */
const conventionalName = /^model(_\w+)?\.(onnx|safetensors|safetensors\.index\.json|gguf)$/;

function defaultVariant(
  displayName: string,
  variants: readonly StoredVariant[],
  files: readonly HubFile[],
  paths: readonly string[],
): StoredVariant {
  const [first] = variants;
  if (first === undefined) throw missingWeights(displayName, paths.length > 0 ? paths : files.map(({ path }) => path));
  if (variants.length === 1 || conventionalName.test(basename(first.files[0] ?? ""))) return first;
  throw new InferyardError(
    "MODEL_NOT_FOUND",
    `${displayName} has ${variants.length} sets of weights, and none of them is the usual one`,
    {
      remedy: `name one, for example ${displayName}:${first.name} (${getNames(variants, files)})`,
      data: { variants: variants.map(({ name }) => name) },
    },
  );
}

function noVariant(
  displayName: string,
  variants: readonly StoredVariant[],
  wanted: string,
  files: readonly HubFile[],
  paths: readonly string[],
): InferyardError {
  if (variants.length === 0) return missingWeights(displayName, paths);
  return new InferyardError("MODEL_NOT_FOUND", `${displayName} has no variant "${wanted}"`, {
    remedy: `choose one of ${getNames(variants, files)}`,
    data: { variants: variants.map(({ name }) => name) },
  });
}

/** The names of the variants with their sizes, for a message. */
function getNames(variants: readonly StoredVariant[], files: readonly HubFile[]): string {
  const sizes = new Map(files.map(({ path, size }) => [path, size]));
  const listed = variants.slice(0, 24).map(({ name, files: own }) => {
    const bytes = own.reduce((sum, path) => sum + (sizes.get(path) ?? 0), 0);
    return `${name} (${Math.max(1, Math.round(bytes / 1e6))} MB)`;
  });
  return [...listed, ...(variants.length > listed.length ? ["…"] : [])].join(", ");
}
