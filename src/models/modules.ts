/**
 * modules.json: the chain of modules sentence-transformers runs a text through. What this version computes is a Transformer with
 * Pooling and Normalize, or a StaticEmbedding with Normalize; any other chain is refused, since leaving a module out would give
 * other vectors without a word.
 */
import { InferyardError } from "../errors.ts";
import { type Folder, isJsonObject, modelInvalid, pathInside, readJson, readJsonObject, shownIn } from "./model-folder.ts";

export interface Modules {
  readonly kind: "transformer" | "static";
  /** Folder of the first module, relative; "" is the model's own. */
  readonly modelPath: string;
  /** Folder of the Pooling module, relative. */
  readonly poolingPath?: string;
  readonly normalize: boolean;
}

interface Module {
  /** The class's own name: "Transformer", "Pooling", ... */
  readonly type: string;
  readonly path: string;
}

const kinds: Readonly<Record<string, Modules["kind"]>> = { Transformer: "transformer", StaticEmbedding: "static" };

/** Undefined where the folder has no modules.json. */
export async function readModules(folder: Folder): Promise<Modules | undefined> {
  const shown = shownIn(folder, "modules.json");
  const value = await readJson(folder, "modules.json");
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.length === 0) throw broken(shown, "it holds no list of modules");
  const [first, ...rest] = value.map((entry) => readModule(entry, folder, shown));
  const kind = kinds[first?.type ?? ""];
  if (first === undefined || kind === undefined) throw unsupported(shown, first?.type ?? "nothing");
  const pooling = kind === "transformer" && rest[0]?.type === "Pooling" ? rest.shift() : undefined;
  for (const module of rest) {
    if (module.type !== "Normalize") throw unsupported(shown, module.type);
    await checkNormalize(folder, module, shown);
  }
  const modelPath = first.path === "." ? "" : first.path;
  return { kind, modelPath, normalize: rest.length > 0, ...(pooling === undefined ? {} : { poolingPath: pooling.path }) };
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

function unsupported(shown: string, module: string): InferyardError {
  const known = "Transformer, Pooling and Normalize, or StaticEmbedding and Normalize, in this order";
  return new InferyardError(
    "MODEL_UNSUPPORTED",
    `${shown} has the module ${module}, which this version does not compute; it computes ${known}`,
    {
      remedy: "use a model without it",
      data: { module },
    },
  );
}
