/** The files that the manifests of a model refer to, read by the readers of src/models from the cache. */
import type { ModelFormat } from "../../../contract/backend.ts";
import { readAimodFolder } from "../../../models/aimod/metadata-json.ts";
import { readInferyardJson } from "../../../models/inferyard-json/read-inferyard-json.ts";
import { type Folder, isJsonObject, readJson, readJsonObject } from "../../../models/model-folder.ts";
import { getArchitecture } from "../../../models/huggingface/model-card.ts";
import { readModules, vectorModuleWeights } from "../../../models/huggingface/modules.ts";
import { type TermiteFile, variantFiles } from "../../../models/termite/termite-json.ts";
import { variantClaims } from "../../../models/termite/termite-json.ts";
import { getFormat } from "../../../models/manifest/weights.ts";

/** The files and weights that the manifests of a model name, which a browser must download. */
export interface ManifestFiles {
  /** Kind of the model by modules.json. Absent without that file. */
  readonly kind?: "transformer" | "static";
  /** Subfolder of the transformer module by modules.json; "" is the model's folder. */
  readonly inner: string;
  /** Whether the model is a static embedding matrix, whose weights are in model.safetensors. */
  readonly isStatic: boolean;
  /** Further files to fetch that a manifest names. */
  readonly others: readonly string[];
  /** Weights that manifests name, in their order. Empty if no manifest names any. */
  readonly weights: readonly ManifestWeights[];
}

/** A file of weights that a manifest names. */
export interface ManifestWeights {
  readonly file: string;
  /** Variant names that select this file. */
  readonly names: readonly string[];
  /** Format of the weights. Default: by the file's extension. */
  readonly format?: ModelFormat;
  readonly size?: number;
  readonly sha256?: string;
}

/**
 * Reads the manifests of a folder. Throws errors of their readers, so that an invalid or unsupported manifest is reported before weights are downloaded.
 */
export async function readManifestFiles(folder: Folder): Promise<ManifestFiles> {
  const modules = await readModules(folder);
  const config = (await readJsonObject(folder, "config.json")) ?? {};
  const own = await readInferyardJson(folder);
  const packaged = await readAimodFolder(folder);
  const termite = await termiteFiles(folder);
  const tokenizer = own?.overrides.text?.tokenizer;
  const ownWeights =
    own?.variants?.map(({ name, aliases = [], ...variant }) => ({ ...variant, names: [name, ...aliases] })) ?? [];
  const main = packaged?.mainFile === undefined ? [] : [{ file: packaged.mainFile, names: [] }];
  return {
    ...(modules === undefined ? {} : { kind: modules.kind }),
    inner: modules?.modelPath ?? "",
    isStatic: modules?.kind === "static" || config["model_type"] === "model2vec",
    others: [
      ...(await moduleConfigs(folder)),
      ...(modules === undefined ? [] : vectorModuleWeights(modules)),
      ...(getArchitecture(config) === "HF_ColBERT" ? ["artifact.metadata"] : []),
      ...termite.others,
      ...(tokenizer === undefined ? [] : [tokenizer]),
    ],
    weights: [ownWeights, termite.weights, main].find((stated) => stated.length > 0) ?? [],
  };
}

/** The config.json of every module of sentence-transformers. */
async function moduleConfigs(folder: Folder): Promise<string[]> {
  const modules = await readJson(folder, "modules.json");
  if (!Array.isArray(modules)) return [];
  const paths = modules.map((module: unknown) => (isJsonObject(module) ? module["path"] : undefined));
  return paths.filter((path) => typeof path === "string" && path !== "").map((path) => `${String(path)}/config.json`);
}

/** Files that Termite's manifest names. None for an invalid manifest, whose error its reader reports. */
async function termiteFiles(folder: Folder): Promise<Pick<ManifestFiles, "others" | "weights">> {
  const value = await readJsonObject(folder, "model_manifest.json");
  if (value === undefined) return { others: [], weights: [] };
  const { checkTermite } = await import("../../../models/termite/check-termite.ts");
  const check = checkTermite(value);
  if (check.problems !== undefined) return { others: [], weights: [] };
  const { files, variants = {} } = check.json;
  const graphs = files.filter(isWeights).map((file) => getWeights(file, file.name === "model.onnx" ? "f32" : undefined));
  const others = Object.entries(variants).flatMap(([id, variant]) =>
    variantFiles(variant)
      .filter(isWeights)
      .map((file) => getWeights(file, id)),
  );
  return { others: files.filter((file) => !isWeights(file)).map(({ name }) => name), weights: [...graphs, ...others] };
}

function isWeights({ name }: TermiteFile): boolean {
  return getFormat(name) !== undefined;
}

/** `id`: Termite's name for the variant. */
function getWeights({ name: file, digest, size }: TermiteFile, id: string | undefined): ManifestWeights {
  const claim = id === undefined ? undefined : variantClaims.get(id);
  const names = [claim?.name, ...(claim?.aliases ?? []), id].filter((name) => name !== undefined);
  return { file, names, sha256: digest.slice("sha256:".length), ...(size === undefined || size === 0 ? {} : { size }) };
}
