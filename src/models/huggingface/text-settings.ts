/** Reads how a model tokenizes text and pools vectors. Each setting comes from the file that the reference implementation reads it from. */
import { omitUndefined } from "../../contract/checked.ts";
import { unsupportedModel } from "../../contract/errors.ts";
import type { Pooling, TextSettings } from "../manifest.ts";
import { readLateInteraction } from "./late-interaction.ts";
import { type Folder, type JsonObject, isFile, displayNameIn } from "../model-folder.ts";
import { getArchitecture } from "./model-card.ts";
import type { Modules } from "./modules.ts";
import { readPoolingConfig } from "./pooling-config.ts";
import { checkDefaultPrompt, readConfigPrompts, readPromptsConfig } from "./prompts.ts";
import { findTokenizerFile, vocabularyFiles } from "./tokenizer-file.ts";
import { readTokenizerSettings } from "./tokenizer-settings.ts";
import { type TokenLimit, readSentenceConfig, readTokenLimit } from "./token-limit.ts";

/** Text settings that inferyard.json states. A field that is present takes precedence over the other files of the model. */
export interface TextOverrides extends Partial<
  Pick<TextSettings, "pooling" | "normalize" | "specialTokens" | "dropUnknown" | "prompts" | "defaultPrompt">
> {
  /** Path of tokenizer.json, relative to the folder. */
  readonly tokenizer?: string;
  /** Longest input in tokens; null: no limit. */
  readonly maxTokens?: number | null;
}

/** Files that only models with text input have. If one is there, a missing tokenizer.json is an error when the model is used. */
const textFiles = ["tokenizer.json", "tokenizer_config.json", ...vocabularyFiles];

/** Default limit of `encode` in model2vec 0.10, in tokens. */
const model2vecLimit = 512;

/** Sources of the settings for `readTextSettings`, besides the files that it reads itself. */
export interface TextSources {
  /** Content of modules.json, or undefined if there is none. */
  readonly modules: Modules | undefined;
  /** Content of config.json. */
  readonly config: JsonObject;
  /** Whether the model is a table of token vectors without a network (StaticEmbedding, model2vec). */
  readonly isStatic: boolean;
  /** Whether the folder was written without subfolders, so that the folder of the Pooling module may be missing. */
  readonly flat: boolean;
  readonly overrides: TextOverrides;
}

/**
 * Reads how a model tokenizes and pools text, or returns undefined if it does not take text. `folder` is the model's folder, `inner` the folder of its first
 * module, which is usually the same. Throws MODEL_INVALID for damaged files, and MODEL_UNSUPPORTED for modes that this version does not compute.
 */
export async function readTextSettings(folder: Folder, inner: Folder, sources: TextSources): Promise<TextSettings | undefined> {
  const { modules, config, isStatic, flat, overrides } = sources;
  const takesText = modules !== undefined || overrides.tokenizer !== undefined || (await hasAny(inner, textFiles));
  if (!takesText) return undefined;

  const tokenizerConfig = await readTokenizerSettings(inner);
  const sentence = modules?.kind === "transformer" ? await readSentenceConfig(inner) : undefined;
  refuseOtherTransformerTask(sentence, inner, modules);
  const isModel2vec = config["model_type"] === "model2vec";
  const limit = isStatic ? staticLimit(config, isModel2vec) : readTokenLimit(sentence, config, tokenizerConfig);
  const ownPooling = overrides.pooling === undefined ? await getPooling(folder, modules, isStatic, flat) : undefined;
  const pooling = overrides.pooling ?? ownPooling?.pooling;
  const ownModules = await readOwnModules(folder, inner, modules, config);
  const lateInteraction = await readLateInteraction(folder, {
    modules,
    sentence,
    config: await readPromptsConfig(folder),
    hasProjection: ownModules.hasProjection,
  });
  return {
    ...(await findTokenizerFile(folder, inner, { stated: overrides.tokenizer, config, tokenizerConfig })),
    tokenizerConfig,
    ...limitSettings(overrides, limit),
    specialTokens: overrides.specialTokens ?? !isStatic,
    dropUnknown: overrides.dropUnknown ?? isModel2vec,
    lowercase: sentence?.config["do_lower_case"] === true,
    ...omitUndefined({ pooling }),
    poolPrompt: ownPooling?.includePrompt ?? true,
    ...ownModules.settings,
    normalize: overrides.normalize ?? (ownModules.hasProjection || normalizes(config, modules, isModel2vec)),
    ...(await prompts(folder, overrides)),
    ...omitUndefined({ lateInteraction }),
  };
}

async function hasAny(folder: Folder, files: readonly string[]): Promise<boolean> {
  for (const file of files) if (await isFile(`${folder.path}/${file}`, displayNameIn(folder, file))) return true;
  return false;
}

function limitSettings(
  stated: TextOverrides,
  limit: TokenLimit | undefined,
): Pick<TextSettings, "maxTokens" | "maxTokensSource"> {
  if (stated.maxTokens === null) return {};
  if (stated.maxTokens !== undefined) return { maxTokens: stated.maxTokens, maxTokensSource: "inferyard.json maxTokens" };
  return limit === undefined ? {} : { maxTokens: limit.maxTokens, maxTokensSource: limit.source };
}

/** StaticEmbedding of sentence-transformers has no limit; model2vec has one unless `max_length` is null. */
function staticLimit(config: JsonObject, isModel2vec: boolean): TokenLimit | undefined {
  if (!isModel2vec) return undefined;
  const limit = config["max_length"];
  if (limit === null) return undefined;
  return typeof limit === "number" && limit > 0
    ? { maxTokens: limit, source: "config.json max_length" }
    : { maxTokens: model2vecLimit, source: "the default of model2vec" };
}

async function getPooling(
  folder: Folder,
  modules: Modules | undefined,
  isStatic: boolean,
  flat: boolean,
): Promise<{ pooling: Pooling; includePrompt: boolean } | undefined> {
  if (isStatic) return { pooling: "mean", includePrompt: true };
  const path = modules?.poolingPath;
  if (path === undefined || (flat && !(await hasAny(folder, [`${path}/config.json`])))) return undefined;
  return await readPoolingConfig(folder, path);
}

/** model2vec reads `normalize` from config.json and ignores modules.json. */
function normalizes(config: JsonObject, modules: Modules | undefined, isModel2vec: boolean): boolean {
  const stated = config["normalize"];
  return isModel2vec && typeof stated === "boolean" ? stated : (modules?.normalize ?? false);
}

type ModuleSettings = Pick<TextSettings, "vectorModules" | "sparse" | "heads">;

/** What the modules with weights of their own say. Their reader is imported on demand: few models have such modules. */
async function readOwnModules(
  folder: Folder,
  inner: Folder,
  modules: Modules | undefined,
  config: JsonObject,
): Promise<{ settings: ModuleSettings; hasProjection: boolean }> {
  const isStanford = getArchitecture(config) === "HF_ColBERT";
  const hasHeads = await hasAny(inner, headFiles);
  const { vectorModules = [], sparse, tokens } = modules ?? {};
  if (vectorModules.length === 0 && sparse === undefined && !isStanford && !hasHeads)
    return { settings: {}, hasProjection: false };
  const reader = await import("./vector-modules.ts");
  const projection = isStanford ? await reader.readProjection(inner) : undefined;
  const own = await reader.readVectorModules(
    folder,
    vectorModules,
    tokens === undefined ? "sentence_embedding" : "token_embeddings",
  );
  const all = projection === undefined ? own : [projection];
  const settings = {
    ...(all.length === 0 ? {} : { vectorModules: all }),
    ...(modules?.sparse === undefined
      ? {}
      : { sparse: await (await import("./sparse-settings.ts")).readSparseSettings(folder, modules) }),
    ...(hasHeads ? { heads: await readHeads(inner) } : {}),
  };
  return { settings, hasProjection: projection !== undefined };
}

/** The heads of BGE-M3, as FlagEmbedding writes them and as they are read here. */
const headFiles = ["sparse_linear", "colbert_linear"].flatMap((name) => [`${name}.safetensors`, `${name}.pt`]);

async function readHeads(inner: Folder): Promise<NonNullable<TextSettings["heads"]>> {
  const { readLinear } = await import("./vector-modules.ts");
  const sparse = await readLinear(inner, "sparse_linear.safetensors", "ReLU", 1);
  const multiVector = await readLinear(inner, "colbert_linear.safetensors", "Identity");
  const listOf = <Module>(module: Module | undefined): Module[] => (module === undefined ? [] : [module]);
  return { sparse: listOf(sparse), multiVector: listOf(multiVector), displayName: inner.displayName };
}

async function prompts(
  folder: Folder,
  stated: TextOverrides,
): Promise<Pick<TextSettings, "prompts" | "defaultPrompt" | "similarity">> {
  const found = await readConfigPrompts(folder);
  if (stated.prompts === undefined && stated.defaultPrompt === undefined) return found;
  const merged = { ...(stated.prompts === undefined ? found : {}), prompts: stated.prompts ?? found.prompts };
  const withDefault = stated.defaultPrompt === undefined ? merged : { ...merged, defaultPrompt: stated.defaultPrompt };
  return checkDefaultPrompt(withDefault, displayNameIn(folder, "inferyard.json"));
}

/** Refuses a Transformer module whose `transformer_task` gives something else than the modules after it work on. */
function refuseOtherTransformerTask(
  sentence: { file: string; config: JsonObject } | undefined,
  folder: Folder,
  modules: Modules | undefined,
): void {
  const expected = modules?.sparse?.type === "SpladePooling" ? "fill-mask" : "feature-extraction";
  if (isCrossEncoder(modules, sentence?.config)) return;
  const task = sentence?.config["transformer_task"] ?? (modules?.isMasked === true ? "fill-mask" : "feature-extraction");
  if (modules === undefined || modules.kind === "static" || task === expected) return;
  const file = displayNameIn(folder, sentence?.file ?? "sentence_bert_config.json");
  throw unsupportedModel(
    `${file} asks for ${JSON.stringify(task)}, which this version does not compute`,
    `use a model for ${expected}`,
  );
}

/** Whether the modules describe a CrossEncoder: a Transformer alone, whose task is to classify. */
export function isCrossEncoder(modules: Modules | undefined, sentence: JsonObject | undefined): boolean {
  if (modules === undefined || modules.poolingPath !== undefined || modules.sparse !== undefined) return false;
  return modules.vectorModules.length === 0 && sentence?.["transformer_task"] === "sequence-classification";
}
