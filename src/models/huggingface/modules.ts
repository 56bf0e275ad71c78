/**
 * Reads modules.json: the modules through which sentence-transformers runs a text. Supported are a Transformer with Pooling or a StaticEmbedding, followed
 * by Dense, LayerNorm and Normalize in any order. Any other sequence is MODEL_UNSUPPORTED, since skipping a module would silently give other vectors.
 */
import { InferyardError } from "../../errors.ts";
import { type Folder, isJsonObject, pathInside, readJson, readJsonObject, displayNameIn } from "../model-folder.ts";
import { modelInvalid } from "../../formats/format-errors.ts";

/** The modules of a sentence-transformers model, from modules.json. Paths are relative to the model's folder. */
export interface Modules {
  /** The first module: a Transformer, or a StaticEmbedding. */
  readonly kind: "transformer" | "static";
  /** Folder of the first module; "" is the model's folder. */
  readonly modelPath: string;
  /** Folder of the Pooling module. Absent if there is none. */
  readonly poolingPath?: string;
  /** Modules after pooling, in order, without a Normalize at the end. */
  readonly vectorModules: readonly VectorModuleEntry[];
  /** Whether the last module is Normalize. */
  readonly normalize: boolean;
}

/** A module of modules.json that transforms the vector of a text after pooling. */
export interface VectorModuleEntry {
  readonly type: VectorModuleType;
  /** Folder of the module, relative to the model's folder. */
  readonly path: string;
}

type VectorModuleType = "Dense" | "LayerNorm" | "Normalize";

const vectorModuleTypes: ReadonlySet<string> = new Set<VectorModuleType>(["Dense", "LayerNorm", "Normalize"]);

interface Module {
  /** Name of the class without its package: "Transformer", "Pooling", ... */
  readonly type: string;
  readonly path: string;
}

const kindByFirstModule: Readonly<Record<string, Modules["kind"]>> = { Transformer: "transformer", StaticEmbedding: "static" };

/**
 * Reads modules.json of the model's folder. Returns undefined if there is none. Throws MODEL_INVALID for a damaged file, and
 * MODEL_UNSUPPORTED for a module, or an order of modules, that this version does not compute.
 */
export async function readModules(folder: Folder): Promise<Modules | undefined> {
  const displayName = displayNameIn(folder, "modules.json");
  const value = await readJson(folder, "modules.json");
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.length === 0) throw broken(displayName, "it holds no list of modules");
  const [first, ...rest] = value.map((entry) => readModule(entry, folder, displayName));
  const kind = kindByFirstModule[first?.type ?? ""];
  if (first === undefined || kind === undefined) throw unsupported(displayName, first?.type ?? "nothing");
  const pooling = kind === "transformer" && rest[0]?.type === "Pooling" ? rest.shift() : undefined;
  const vectorModules: VectorModuleEntry[] = [];
  for (const module of rest) {
    if (!isVectorModule(module)) throw unsupported(displayName, module.type);
    const isLearned = module.type !== "Normalize";
    if (isLearned && kind === "transformer" && pooling === undefined) throw beforePooling(displayName, module.type);
    if (!isLearned) await checkNormalize(folder, module, displayName);
    vectorModules.push(module);
  }
  const normalize = vectorModules.at(-1)?.type === "Normalize";
  while (vectorModules.at(-1)?.type === "Normalize") vectorModules.pop();
  const modelPath = first.path === "." ? "" : first.path;
  return { kind, modelPath, vectorModules, normalize, ...(pooling === undefined ? {} : { poolingPath: pooling.path }) };
}

/** Paths of the weight files of the modules after pooling, relative to the model's folder. */
export function vectorModuleWeights({ vectorModules }: Modules): string[] {
  return vectorModules.filter(({ type }) => type !== "Normalize").map(({ path }) => `${path}/model.safetensors`);
}

function isVectorModule(module: Module): module is VectorModuleEntry {
  return vectorModuleTypes.has(module.type);
}

function readModule(entry: unknown, folder: Folder, displayName: string): Module {
  if (!isJsonObject(entry)) throw broken(displayName, "an entry is not an object");
  const { type, path } = entry;
  if (typeof type !== "string" || typeof path !== "string") throw broken(displayName, 'an entry has no "type" or no "path"');
  if (path !== "") pathInside(folder, path, displayName);
  // The classes have moved within sentence_transformers. A class of another package is code of the model, even if it has a known name.
  return { type: type.startsWith("sentence_transformers.") ? (type.split(".").at(-1) ?? type) : type, path };
}

/** Normalize can be configured to work on token vectors, which this version does not compute. */
async function checkNormalize(folder: Folder, { path }: Module, displayName: string): Promise<void> {
  const config = await readJsonObject(folder, `${path}/config.json`);
  const input = config?.["module_input_name"] ?? "sentence_embedding";
  if (input !== "sentence_embedding") throw unsupported(displayName, `Normalize over ${JSON.stringify(input)}`);
}

function broken(displayName: string, problem: string): InferyardError {
  return modelInvalid(`${displayName} is broken: ${problem}`, "download this file of the model again");
}

/** For a module without Pooling before it, which would work on token vectors. */
function beforePooling(displayName: string, module: string): InferyardError {
  return new InferyardError(
    "MODEL_UNSUPPORTED",
    `${displayName} has the module ${module} with no Pooling right after the Transformer`,
    {
      remedy: "use a model that pools first, as sentence-transformers' own do",
      data: { module },
    },
  );
}

function unsupported(displayName: string, module: string): InferyardError {
  const known = "Transformer and Pooling, or StaticEmbedding, then Dense, LayerNorm and Normalize";
  return new InferyardError(
    "MODEL_UNSUPPORTED",
    `${displayName} has the module ${module}, which this version does not compute; it computes ${known}`,
    {
      remedy: "use a model without it",
      data: { module },
    },
  );
}
