/**
 * Reads router_config.json of sentence-transformers' Router: chains of modules by the kind of text. Supported is that of models with "inference-free" queries:
 * documents through a Transformer with SpladePooling, queries through the weights of their tokens (SparseStaticEmbedding).
 */
import { type Folder, isJsonObject, readJson } from "../model-folder.ts";
import { type Module, broken, readModule, unsupportedModule, readModuleConfig } from "./module-entry.ts";

/** The chains of a Router. */
export interface RouterRoutes {
  /** The modules for documents. */
  readonly document: readonly Module[];
  readonly queries: { readonly path: string; readonly isDefault: boolean };
  /** The file with the configuration, as the user wrote its path. */
  readonly displayName: string;
}

/**
 * Reads the Router in the folder `path`, relative to the model's folder. Throws MODEL_INVALID if its configuration is missing or damaged, and
 * MODEL_UNSUPPORTED for other routes, and for a query tokenizer that is not the one of documents.
 */
export async function readRouter(folder: Folder, path: string): Promise<RouterRoutes> {
  const inRouter = (file: string): string => (path === "" ? file : `${path}/${file}`);
  const { config, displayName } = await readModuleConfig(folder, inRouter("router_config.json"));
  const { types, structure, parameters } = config;
  if (!isJsonObject(types) || !isJsonObject(structure)) throw broken(displayName, 'it has no "types" or no "structure"');
  const getRoute = (name: string): Module[] => {
    const names = structure[name];
    if (!Array.isArray(names)) throw unsupportedModule(displayName, `Router without a route "${name}"`);
    return names.map((one) => readModule({ type: types[String(one)], path: inRouter(String(one)) }, folder, displayName));
  };
  const other = Object.keys(structure).find((name) => name !== "query" && name !== "document");
  if (other !== undefined) throw unsupportedModule(displayName, `Router with the route "${other}"`);
  const [query, ...more] = getRoute("query");
  const document = getRoute("document");
  if (query?.type !== "SparseStaticEmbedding" || more.length > 0 || document[1]?.type !== "SpladePooling") {
    const chains = [[query, ...more], document].map((chain) => chain.map((module) => module?.type).join(" and "));
    throw unsupportedModule(displayName, `Router with ${chains.join(" for queries, and ")} for documents`);
  }
  await requireSameTokenizer(folder, query.path, document[0]?.path ?? "", displayName);
  const isDefault = isJsonObject(parameters) && parameters["default_route"] === "query";
  return { document, queries: { path: query.path, isDefault }, displayName };
}

/** The weights are by token id, so that both routes must have the same vocabulary. */
async function requireSameTokenizer(folder: Folder, query: string, document: string, displayName: string): Promise<void> {
  const [own, other] = [await readJson(folder, `${query}/tokenizer.json`), await readJson(folder, `${document}/tokenizer.json`)];
  const getVocabulary = (tokenizer: unknown): unknown => {
    const model = isJsonObject(tokenizer) ? tokenizer["model"] : undefined;
    return isJsonObject(model) ? model["vocab"] : undefined;
  };
  if (own === undefined || JSON.stringify(getVocabulary(own)) === JSON.stringify(getVocabulary(other))) return;
  throw unsupportedModule(displayName, "Router with another vocabulary for queries than for documents");
}
