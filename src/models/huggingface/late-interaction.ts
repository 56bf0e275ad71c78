/**
 * Reads the settings of late-interaction models: from the modules of sentence-transformers' MultiVectorEncoder, from PyLate's
 * config_sentence_transformers.json, or from ColBERT's artifact.metadata.
 */
import { unsupportedModel } from "../../contract/errors.ts";
import { modelInvalid } from "../../formats/format-errors.ts";
import { type Folder, type JsonObject, isJsonObject, readJsonObject, displayNameIn } from "../model-folder.ts";
import type { LateInteraction, LateInteractionSettings, QueryExpansion } from "../manifest.ts";
import type { Modules } from "./modules.ts";
import { readModuleConfig } from "./module-entry.ts";

/** Python's string.punctuation: the tokens of documents that ColBERT ignores. */
const punctuation = Array.from("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~");

/** Lengths in tokens that both libraries use if a model states none. */
const defaultQueryTokens = 32;
const defaultDocumentTokens = 180;

/** Sources of the settings for `readLateInteraction`. */
export interface LateInteractionSources {
  /** Content of modules.json, or undefined if there is none. */
  readonly modules: Modules | undefined;
  /** sentence-transformers' configuration of the Transformer, and the name of its file. */
  readonly sentence: { readonly file: string; readonly config: JsonObject } | undefined;
  /** Content of config_sentence_transformers.json. */
  readonly config: JsonObject;
  /** Whether the weights of the encoder hold ColBERT's projection. */
  readonly hasProjection: boolean;
}

/**
 * Reads the settings of a late-interaction model (ColBERT) from its folder. Returns undefined if it is not such a model. Throws MODEL_INVALID for damaged
 * settings, and MODEL_UNSUPPORTED for settings that this version does not compute.
 */
export async function readLateInteraction(
  folder: Folder,
  { modules, sentence, config, hasProjection }: LateInteractionSources,
): Promise<LateInteraction | undefined> {
  const meanScore = String(config["similarity_fn_name"]).toLowerCase() === "meanmaxsim";
  const common = { skippedIn: ["document"], hasModules: modules?.tokens !== undefined || hasProjection, meanScore } as const;
  if (modules?.tokens?.maskPath !== undefined || config["model_type"] === "MultiVectorEncoder")
    return { ...common, ...(await readMultiVectorEncoder(folder, modules?.tokens?.maskPath, sentence)) };
  const keys = ["query_prefix", "document_prefix", "skiplist_words", "do_query_expansion"];
  if (modules?.tokens !== undefined || keys.some((key) => key in config)) {
    const words = config["skiplist_words"];
    const query = role(config["query_prefix"], config["query_length"] ?? defaultQueryTokens);
    const expands = config["do_query_expansion"] !== false; // PyLate's default is to do it
    return {
      ...common,
      query,
      document: role(config["document_prefix"], config["document_length"] ?? defaultDocumentTokens),
      ...(expands ? expansionTo(query, config["attend_to_expansion_tokens"] === true) : {}),
      skippedWords: Array.isArray(words) ? words.filter((word) => typeof word === "string") : punctuation,
    };
  }
  const metadata = (await readJsonObject(folder, "artifact.metadata")) ?? (hasProjection ? {} : undefined);
  if (metadata === undefined) return undefined;
  // ColBERT's own markers, if the file does not name them.
  const [queryMarker, documentMarker] = hasProjection ? ["[unused0]", "[unused1]"] : [undefined, undefined];
  const query = role(metadata["query_token_id"] ?? queryMarker, metadata["query_maxlen"] ?? defaultQueryTokens);
  return {
    ...common,
    query,
    document: role(metadata["doc_token_id"] ?? documentMarker, metadata["doc_maxlen"]),
    ...expansionTo(query, metadata["attend_to_mask_tokens"] === true),
    skippedWords: metadata["mask_punctuation"] === false ? [] : punctuation,
  };
}

function role(marker: unknown, maxTokens: unknown): LateInteractionSettings {
  return {
    ...(typeof marker === "string" && marker !== "" ? { marker } : {}),
    ...(Number.isSafeInteger(maxTokens) && Number(maxTokens) > 2 ? { maxTokens: Number(maxTokens) } : {}),
  };
}

function expansionTo({ maxTokens }: LateInteractionSettings, attend: boolean): { readonly expansion?: QueryExpansion } {
  return maxTokens === undefined ? {} : { expansion: { length: maxTokens, attend } };
}

/** The settings of a MultiVectorEncoder: lengths and expansion are those of the Transformer, ignored tokens those of MultiVectorMask. */
async function readMultiVectorEncoder(
  folder: Folder,
  maskPath: string | undefined,
  sentence: LateInteractionSources["sentence"],
): Promise<Omit<LateInteraction, "hasModules" | "meanScore" | "skippedIn"> & Partial<Pick<LateInteraction, "skippedIn">>> {
  const { query_length: queryLength, document_length: documentLength, query_expansion: stated } = sentence?.config ?? {};
  const document = role(undefined, documentLength);
  const found =
    stated === undefined || stated === null ? undefined : readExpansion(stated, displayNameIn(folder, sentence?.file ?? ""));
  const mask = maskPath === undefined ? { skippedWords: [] } : await readMask(folder, maskPath);
  if (found === undefined) return { ...mask, query: role(undefined, queryLength), document };
  const { strategy, ...expansion } = found;
  const length = typeof queryLength === "number" ? Math.max(queryLength, expansion.length) : undefined;
  return { ...mask, query: role(undefined, strategy === "fixed" ? expansion.length : length), document, expansion };
}

function readExpansion(stated: unknown, displayName: string): QueryExpansion & { readonly strategy: "fixed" | "min" } {
  const { strategy, length, attend = false, token } = isJsonObject(stated) ? stated : {};
  const isToken = token === undefined || token === null || typeof token === "string";
  const isLength = typeof length === "number" && Number.isSafeInteger(length) && length > 0;
  if ((strategy !== "fixed" && strategy !== "min") || !isLength || typeof attend !== "boolean" || !isToken) {
    const expected =
      '{ "strategy": "fixed" or "min", "length": a number of tokens, "attend": true or false, "token": a token or null }';
    throw modelInvalid(`${displayName} has a "query_expansion" that is not ${expected}`, "download this file of the model again");
  }
  return { strategy, length, attend, ...(typeof token === "string" ? { token } : {}) };
}

async function readMask(folder: Folder, path: string): Promise<Pick<LateInteraction, "skippedWords" | "skippedIn">> {
  const { config, displayName } = await readModuleConfig(folder, `${path}/config.json`);
  const { skiplist_words: words, skiplist_tasks: tasks, keep_only_token_ids: kept } = config;
  if (Array.isArray(kept) && kept.length > 0) {
    throw unsupportedModel(
      `${displayName} keeps the vectors of some tokens only (keep_only_token_ids), which is for documents that are images`,
      "use a model for texts",
    );
  }
  const listed = tasks === undefined || tasks === null ? ["document"] : [tasks].flat();
  return {
    skippedWords: Array.isArray(words) ? words.filter((word) => typeof word === "string") : [],
    skippedIn: (["query", "document"] as const).filter((task) => listed.includes(task)),
  };
}
