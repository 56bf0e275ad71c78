/**
 * modules.json: the chain of modules sentence-transformers runs a text through. What this version computes is a Transformer with
 * Pooling, or a StaticEmbedding, and after it Dense, LayerNorm and Normalize in any order; any other chain is refused, since leaving a
 * module out would give other vectors without a word.
 */
import { InferyardError } from "../../errors.ts";
import { type Folder, isJsonObject, modelInvalid, pathInside, readJson, readJsonObject, shownIn } from "../model-folder.ts";

export interface Modules {
  readonly kind: "transformer" | "static";
  /** Folder of the first module, relative; "" is the model's own. */
  readonly modelPath: string;
  /** Folder of the Pooling module, relative. */
  readonly poolingPath?: string;
  /** What a text's vector goes through after pooling, in order; the Normalize at the end is not among them. */
  readonly vectorModules: readonly VectorModuleEntry[];
  /** Whether the chain ends with Normalize. */
  readonly normalize: boolean;
}

/** A module that takes a text's vector and gives another. */
export interface VectorModuleEntry {
  readonly type: VectorModuleType;
  /** Its folder, relative. */
  readonly path: string;
}

type VectorModuleType = "Dense" | "LayerNorm" | "Normalize";

const vectorModuleTypes: ReadonlySet<string> = new Set<VectorModuleType>(["Dense", "LayerNorm", "Normalize"]);

interface Module {
  /** The class's own name: "Transformer", "Pooling", ... */
  readonly type: string;
  readonly path: string;
}

const kindByFirstModule: Readonly<Record<string, Modules["kind"]>> = { Transformer: "transformer", StaticEmbedding: "static" };

/** Undefined where the folder has no modules.json. */
export async function readModules(folder: Folder): Promise<Modules | undefined> {
  const shown = shownIn(folder, "modules.json");
  const value = await readJson(folder, "modules.json");
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.length === 0) throw broken(shown, "it holds no list of modules");
  const [first, ...rest] = value.map((entry) => readModule(entry, folder, shown));
  const kind = kindByFirstModule[first?.type ?? ""];
  if (first === undefined || kind === undefined) throw unsupported(shown, first?.type ?? "nothing");
  const pooling = kind === "transformer" && rest[0]?.type === "Pooling" ? rest.shift() : undefined;
  const vectorModules: VectorModuleEntry[] = [];
  for (const module of rest) {
    if (!isVectorModule(module)) throw unsupported(shown, module.type);
    const isLearned = module.type !== "Normalize";
    if (isLearned && kind === "transformer" && pooling === undefined) throw beforePooling(shown, module.type);
    if (!isLearned) await checkNormalize(folder, module, shown);
    vectorModules.push(module);
  }
  const normalize = vectorModules.at(-1)?.type === "Normalize";
  while (vectorModules.at(-1)?.type === "Normalize") vectorModules.pop();
  const modelPath = first.path === "." ? "" : first.path;
  return { kind, modelPath, vectorModules, normalize, ...(pooling === undefined ? {} : { poolingPath: pooling.path }) };
}

/** The files, relative, with the weights of such modules. */
export function vectorModuleWeights({ vectorModules }: Modules): string[] {
  return vectorModules.filter(({ type }) => type !== "Normalize").map(({ path }) => `${path}/model.safetensors`);
}

function isVectorModule(module: Module): module is VectorModuleEntry {
  return vectorModuleTypes.has(module.type);
}

function readModule(entry: unknown, folder: Folder, shown: string): Module {
  if (!isJsonObject(entry)) throw broken(shown, "an entry is not an object");
  const { type, path } = entry;
  if (typeof type !== "string" || typeof path !== "string") throw broken(shown, 'an entry has no "type" or no "path"');
  if (path !== "") pathInside(folder, path, shown);
  // The class has moved within sentence_transformers; one from elsewhere is code of the model's own, whatever its name.
  return { type: type.startsWith("sentence_transformers.") ? (type.split(".").at(-1) ?? type) : type, path };
}

/** Normalize can be told to work on token vectors; then it is another thing. */
async function checkNormalize(folder: Folder, { path }: Module, shown: string): Promise<void> {
  const config = await readJsonObject(folder, `${path}/config.json`);
  const input = config?.["module_input_name"] ?? "sentence_embedding";
  if (input !== "sentence_embedding") throw unsupported(shown, `Normalize over ${JSON.stringify(input)}`);
}

function broken(shown: string, problem: string): InferyardError {
  return modelInvalid(`${shown} is broken: ${problem}`, "download this file of the model again");
}

/** It would work on token vectors, or on nothing. */
function beforePooling(shown: string, module: string): InferyardError {
  return new InferyardError(
    "MODEL_UNSUPPORTED",
    `${shown} has the module ${module} with no Pooling right after the Transformer`,
    {
      remedy: "use a model that pools first, as sentence-transformers' own do",
      data: { module },
    },
  );
}

function unsupported(shown: string, module: string): InferyardError {
  const known = "Transformer and Pooling, or StaticEmbedding, then Dense, LayerNorm and Normalize";
  return new InferyardError(
    "MODEL_UNSUPPORTED",
    `${shown} has the module ${module}, which this version does not compute; it computes ${known}`,
    {
      remedy: "use a model without it",
      data: { module },
    },
  );
}
