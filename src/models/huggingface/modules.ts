/**
 * Reads modules.json: the modules through which sentence-transformers runs a text. Supported are the chains of its SentenceTransformer (a Transformer with
 * Pooling or a StaticEmbedding, followed by Dense, LayerNorm and Normalize in any order), of its MultiVectorEncoder and PyLate (a Transformer, then Dense,
 * MultiVectorMask and Normalize on the vectors of tokens), and of its SparseEncoder (a Transformer with SpladePooling, one that ends with SparseAutoEncoder, or
 * a Router with weights of tokens for queries). Any other sequence is MODEL_UNSUPPORTED, since skipping a module would silently give other vectors.
 */
import { InferyardError } from "../../contract/errors.ts";
import { type Folder, readJson, readJsonObject, displayNameIn } from "../model-folder.ts";
import { type Module, broken, readModule, unsupportedModule } from "./module-entry.ts";

/** The modules of a sentence-transformers model, from modules.json. Paths are relative to the model's folder. */
export interface Modules {
  /** The first module: a Transformer, or a StaticEmbedding. */
  readonly kind: "transformer" | "static";
  /** Folder of the first module; "" is the model's folder. */
  readonly modelPath: string;
  /** Folder of the Pooling module. Absent if there is none. */
  readonly poolingPath?: string;
  /**
   * Dense, LayerNorm and Normalize, in order, without a Normalize at the end: applied to the vector of a text, or with `tokens` to the vector of each token.
   */
  readonly vectorModules: readonly VectorModuleEntry[];
  /** Whether the last of them is Normalize. */
  readonly normalize: boolean;
  /** Present if the modules work on token vectors (MultiVectorEncoder, PyLate). */
  readonly tokens?: {
    /** Folder of the MultiVectorMask module. Absent in a model of PyLate. */
    readonly maskPath?: string;
  };
  /** The module that makes sparse vectors, and its folder. */
  readonly sparse?: { readonly type: "SpladePooling" | "SparseAutoEncoder"; readonly path: string };
  /** Present if the Transformer is MLMTransformer, whose default task is fill-mask. */
  readonly isMasked?: true;
  /** Folder of the SparseStaticEmbedding that a Router has for queries, and whether it is the default route. */
  readonly queries?: { readonly path: string; readonly isDefault: boolean };
}

/** A module of modules.json that transforms vectors. */
export interface VectorModuleEntry {
  readonly type: VectorModuleType;
  /** Folder of the module, relative to the model's folder. */
  readonly path: string;
}

type VectorModuleType = "Dense" | "LayerNorm" | "Normalize";

const vectorModuleTypes: ReadonlySet<string> = new Set<VectorModuleType>(["Dense", "LayerNorm", "Normalize"]);

const kindByFirstModule: Readonly<Record<string, Modules["kind"]>> = {
  Transformer: "transformer",
  MLMTransformer: "transformer",
  StaticEmbedding: "static",
};

/**
 * Reads modules.json of the model's folder. Returns undefined if there is none. Throws MODEL_INVALID for a damaged file, and
 * MODEL_UNSUPPORTED for a module, or an order of modules, that this version does not compute.
 */
export async function readModules(folder: Folder): Promise<Modules | undefined> {
  const displayName = displayNameIn(folder, "modules.json");
  const value = await readJson(folder, "modules.json");
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.length === 0) throw broken(displayName, "it holds no list of modules");
  const modules = value.map((entry) => readModule(entry, folder, displayName));
  const [first] = modules;
  if (first?.type !== "Router") return await readChain(folder, modules, displayName);
  if (modules.length > 1) throw unsupportedModule(displayName, "Router with modules behind it");
  const { readRouter } = await import("./router.ts"); // few models have one
  const router = await readRouter(folder, first.path);
  return { ...(await readChain(folder, router.document, router.displayName)), queries: router.queries };
}

async function readChain(folder: Folder, modules: readonly Module[], displayName: string): Promise<Modules> {
  const [first, ...rest] = modules;
  const kind = kindByFirstModule[first?.type ?? ""];
  if (first === undefined || kind === undefined) throw unsupportedModule(displayName, first?.type ?? "nothing");
  const isMasked = first.type === "MLMTransformer";
  const start = { kind, modelPath: first.path === "." ? "" : first.path, ...(isMasked ? { isMasked } : {}) };
  if (rest[0]?.type === "SpladePooling" && kind === "transformer") {
    if (rest[1] !== undefined) throw unsupportedModule(displayName, `${rest[1].type} behind SpladePooling`);
    return { ...start, vectorModules: [], normalize: false, sparse: { type: "SpladePooling", path: rest[0].path } };
  }
  if (isMasked) throw unsupportedModule(displayName, "MLMTransformer without SpladePooling");
  const library = kind === "transformer" ? await multiVectorLibrary(folder, rest) : undefined;
  if (library !== undefined) return { ...start, ...(await readTokenModules(folder, rest, library, displayName)) };
  const pooling = kind === "transformer" && rest[0]?.type === "Pooling" ? rest.shift() : undefined;
  const last = rest.at(-1);
  const autoEncoder = last?.type === "SparseAutoEncoder" && pooling !== undefined ? rest.pop() : undefined;
  const vectorModules: VectorModuleEntry[] = [];
  for (const module of rest) {
    if (!isVectorModule(module)) throw unsupportedModule(displayName, module.type);
    const isLearned = module.type !== "Normalize";
    if (isLearned && kind === "transformer" && pooling === undefined) throw beforePooling(displayName, module.type);
    if (!isLearned) await checkNormalize(folder, module, displayName, "sentence_embedding");
    vectorModules.push({ type: module.type, path: module.path });
  }
  return {
    ...start,
    ...withoutLastNormalize(vectorModules),
    ...(pooling === undefined ? {} : { poolingPath: pooling.path }),
    ...(autoEncoder === undefined ? {} : { sparse: { type: "SparseAutoEncoder", path: autoEncoder.path } }),
  };
}

type MultiVectorLibrary = "pylate" | "sentence-transformers";

/** The library whose late-interaction model it is, if the modules after the Transformer work on the vectors of its tokens. */
async function multiVectorLibrary(folder: Folder, rest: readonly Module[]): Promise<MultiVectorLibrary | undefined> {
  if (rest.length === 0 || rest.some(({ type }) => type === "Pooling")) return undefined;
  if (rest.some(({ type }) => type === "MultiVectorMask")) return "sentence-transformers";
  const { model_type: model } = (await readJsonObject(folder, "config_sentence_transformers.json")) ?? {};
  if (model === "ColBERT" || rest.some(({ isPylate }) => isPylate)) return "pylate";
  return model === "MultiVectorEncoder" ? "sentence-transformers" : undefined;
}

async function readTokenModules(
  folder: Folder,
  rest: readonly Module[],
  library: MultiVectorLibrary,
  displayName: string,
): Promise<Pick<Modules, "tokens" | "vectorModules" | "normalize">> {
  const [mask, another] = rest.filter(({ type }) => type === "MultiVectorMask");
  if (another !== undefined) throw unsupportedModule(displayName, "MultiVectorMask more than once");
  const vectorModules: VectorModuleEntry[] = [];
  for (const module of rest) {
    if (module.type === "MultiVectorMask") continue;
    if (module.type !== "Dense" && module.type !== "Normalize")
      throw unsupportedModule(displayName, `${module.type} on token vectors`);
    if (module.type === "Normalize") await checkNormalize(folder, module, displayName, "token_embeddings");
    vectorModules.push({ type: module.type, path: module.path });
  }
  const chain = withoutLastNormalize(vectorModules);
  const tokens = mask === undefined ? {} : { maskPath: mask.path };
  return { ...chain, normalize: chain.normalize || library === "pylate", tokens }; // PyLate has no module for it
}

function withoutLastNormalize(modules: VectorModuleEntry[]): Pick<Modules, "vectorModules" | "normalize"> {
  const normalize = modules.at(-1)?.type === "Normalize";
  while (modules.at(-1)?.type === "Normalize") modules.pop();
  return { vectorModules: modules, normalize };
}

/** Paths of the weight files of the modules after the first, relative to the model's folder. */
export function vectorModuleWeights({ vectorModules, sparse, queries }: Modules): string[] {
  const learned = vectorModules.filter(({ type }) => type !== "Normalize").map(({ path }) => path);
  const others = [sparse?.type === "SparseAutoEncoder" ? sparse.path : undefined, queries?.path];
  return [...learned, ...others.filter((path) => path !== undefined)].map((path) => `${path}/model.safetensors`);
}

function isVectorModule(module: Module): module is Module & VectorModuleEntry {
  return vectorModuleTypes.has(module.type);
}

/** Normalize states which vectors it works on: those of texts where it says nothing. */
async function checkNormalize(folder: Folder, { path }: Module, displayName: string, expected: string): Promise<void> {
  const config = await readJsonObject(folder, `${path}/config.json`);
  const input = config?.["module_input_name"] ?? "sentence_embedding";
  if (input !== expected) throw unsupportedModule(displayName, `Normalize over ${JSON.stringify(input)}`);
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
