/** Reads model folders in the layout of Hugging Face transformers and sentence-transformers. */
import { omitUndefined } from "../../contract/checked.ts";
import { basename } from "../../platform/node/paths.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { Manifest, TextSettings, UnreadableVariant, Variant } from "../manifest.ts";
import { getArchitecture, readLicense, getTasks } from "./model-card.ts";
import { usualKind } from "../language-tasks.ts";
import { getModelClass } from "./model-classes.ts";
import { pageReaderTasks } from "../page-reader.ts";
import { type Folder, type JsonObject, isJsonObject, pathInside, readJsonObject, displayNameIn } from "../model-folder.ts";
import type { GgufDescription } from "../gguf/gguf-manifest.ts";
import { readGenaiConfig } from "./genai-config.ts";
import { type Modules, readModules } from "./modules.ts";
import { readChatTemplates } from "./chat-templates.ts";
import { type TextOverrides, isCrossEncoder, readTextSettings } from "./text-settings.ts";
import { readSentenceConfig } from "./token-limit.ts";
import { unreadableVariant } from "../manifest/unreadable-variants.ts";
import { type FoundVariants, type VariantFile, readFoundVariants } from "../manifest/variants.ts";
import { findWeightFiles } from "../manifest/weights.ts";
import type { VisionManifest } from "../vision-manifest.ts";

/**
 * Statements about a model in manifests other than Hugging Face's files (inferyard.json, model_manifest.json of Termite, metadata.json of an .aimod package). A
 * field that is present takes precedence over the files of the folder.
 */
export interface ManifestOverrides
  extends
    Pick<Manifest, "source">,
    Partial<
      Pick<
        Manifest,
        "name" | "tasks" | "selection" | "requirements" | "probe" | "license" | "settings" | "placement" | "provenance"
      >
    > {
  /** Whether the model writes text. Its files state whether it continues a prompt or converts one text to another. */
  readonly writesText?: boolean;
  readonly text?: TextOverrides;
  readonly vision?: VisionManifest;
  /** File of weights that becomes the first variant, relative to the folder. Absent: variants are ordered by preference. */
  readonly mainFile?: string;
  /** Whether the folder was written without subfolders. A missing folder of a module is then not an error. */
  readonly flat?: boolean;
}

/**
 * Reads the manifest of a folder in the layout of Hugging Face. `stated` has the fields of another manifest, which take
 * precedence; `variants` are the variants that it names. Without `variants`, the folder is searched for weights. Throws
 * MODEL_INVALID for damaged files, MODEL_NOT_FOUND if there are no weights, and MODEL_UNSUPPORTED for modules or formats that
 * this version cannot run.
 */
export async function readHuggingFace(
  folder: Folder,
  stated: ManifestOverrides = { source: "huggingface" },
  variants?: FoundVariants,
): Promise<Manifest> {
  const modules = await readModules(folder);
  const modelPath = modules?.modelPath ?? "";
  const inner: Folder = { path: pathInside(folder, modelPath, "modules.json"), displayName: displayNameIn(folder, modelPath) };
  const spanConfig = await readJsonObject(inner, "gliner_config.json");
  const genai = await readGenaiConfig(inner);
  const config = { ...spanConfig, ...((await readJsonObject(inner, "config.json")) ?? genai?.config) };
  const isStatic = modules?.kind === "static" || config["model_type"] === "model2vec";
  const found = variants ?? (await discoverFolderVariants(folder, modelPath, isStatic, stated.mainFile ?? genai?.decoder));
  const { flat = false } = stated;
  const { gguf, files, unreadable } = await describeGgufFiles(folder, found);
  // A GGUF file needs no other file: its own metadata takes precedence over what lies beside it.
  const isGguf = files.every(({ format }) => format === "gguf") || (stated.mainFile !== undefined && files[0]?.format === "gguf");
  const own = isGguf ? gguf.get(files[0]?.path ?? "") : undefined;
  const overrides = stated.text ?? {};
  const text =
    own?.text === undefined
      ? await readTextSettings(folder, inner, { modules, config, isStatic, flat, overrides })
      : withOverrides(own.text, overrides);
  const isUnpooled = modules?.kind === "transformer" && modules.poolingPath === undefined;
  const isScorer = isUnpooled && isCrossEncoder(modules, (await readSentenceConfig(inner))?.config);
  const isEmbedder = stated.writesText !== true && usesHiddenStates(isScorer ? undefined : modules, text, stated.tasks);
  const modelClass = getModelClass(config, isEmbedder);
  const architecture = isStatic ? "StaticModel" : modelClass;
  const generation =
    own?.generation ?? generationFields(config, (await readJsonObject(inner, "generation_config.json")) ?? genai?.generation);
  const beside = text === undefined ? undefined : await readChatTemplates(inner, text.tokenizerConfig);
  const chatTemplates = own === undefined ? beside : (beside ?? own.chatTemplates);
  const statedTasks =
    spanConfig === undefined ? getTasks(getTaskClass(config, modelClass), isStatic || isEmbedder) : ["token-classification"];
  const ownTasks = own?.tasks ?? (statedTasks.length > 0 ? statedTasks : (genai?.tasks ?? pageReaderTasks(files)));
  const license = stated.license ?? (await readLicense(folder)) ?? own?.license;
  return {
    reference: folder.displayName,
    name: stated.name ?? basename(folder.path),
    directory: folder.path,
    source: stated.source,
    tasks: stated.writesText === true ? writingTasks(ownTasks) : (stated.tasks ?? ownTasks),
    variants: files.map((file) => ({ ...withConfig(file, architecture, config), ...getParts(gguf.get(file.path)) })),
    selection: {
      ...(stated.selection ?? { backends: [], fallbacks: [] }),
      ...(stated.mainFile === undefined ? {} : { file: pathInside(folder, stated.mainFile, folder.displayName) }),
    },
    requirements: stated.requirements ?? {},
    ...omitUndefined({
      unreadable: unreadable.length === 0 ? undefined : unreadable,
      settings: stated.settings,
      placement: stated.placement,
      text,
      vision: stated.vision,
      generation,
      chatTemplates,
      probe: stated.probe,
      license,
      provenance: stated.provenance,
    }),
  };
}

/**
 * The descriptions of GGUF files by path, and the variants without those whose metadata cannot be read. Throws errors of reading the first if no variant is
 * left. The reader of GGUF files is imported on demand.
 */
async function describeGgufFiles(
  folder: Folder,
  found: FoundVariants,
): Promise<FoundVariants & { readonly gguf: ReadonlyMap<string, GgufDescription> }> {
  const gguf = new Map<string, GgufDescription>();
  const damaged: { readonly variant: UnreadableVariant; readonly error: InferyardError }[] = [];
  for (const { path, format, ...variant } of found.files) {
    if (format !== "gguf") continue;
    try {
      const { describeGguf } = await import("../gguf/gguf-manifest.ts");
      gguf.set(path, await describeGguf(path, displayNameIn(folder, basename(path))));
    } catch (error) {
      if (!(error instanceof InferyardError)) throw error;
      damaged.push({ variant: unreadableVariant(variant, error), error });
    }
  }
  const files = found.files.filter(({ path, format }) => format !== "gguf" || gguf.has(path));
  const [first] = damaged;
  if (files.length === 0 && first !== undefined) throw first.error;
  return { gguf, files, unreadable: [...found.unreadable, ...damaged.map(({ variant }) => variant)] };
}

/** The class that says what a model is for: an encoder whose files state none may have any head. */
function getTaskClass(config: JsonObject, modelClass: string | undefined): string | undefined {
  return getArchitecture(config) === undefined && modelClass?.endsWith("Model") === true ? undefined : modelClass;
}

/** The tasks of a model that writes text: those that its files state, or to continue a prompt if they state none of this kind. */
function writingTasks(tasks: readonly string[]): readonly string[] {
  return usualKind({ tasks }) === "language" ? tasks : ["text-generation"];
}

/** What a variant takes from its GGUF file. */
function getParts(
  gguf: GgufDescription | undefined,
): Partial<Pick<Variant, "architecture" | "config" | "bytes" | "precision" | "tensorTypes">> {
  if (gguf === undefined) return {};
  const { architecture, config, bytes, precision, tensorTypes } = gguf;
  return { architecture, config, bytes, tensorTypes, ...omitUndefined({ precision }) };
}

/** Text settings of a GGUF file with those that inferyard.json states. */
function withOverrides(text: TextSettings, { maxTokens, tokenizer: _tokenizer, ...stated }: TextOverrides): TextSettings {
  const { maxTokens: own, maxTokensSource, ...others } = { ...text, ...stated };
  if (maxTokens === null) return others;
  if (maxTokens !== undefined) return { ...others, maxTokens, maxTokensSource: "inferyard.json maxTokens" };
  return { ...others, ...omitUndefined({ maxTokens: own, maxTokensSource }) };
}

/** Fields of config.json that older models have instead of generation_config.json. */
const generationNames: ReadonlySet<string> = new Set([
  "bos_token_id",
  "eos_token_id",
  "pad_token_id",
  "decoder_start_token_id",
  "forced_bos_token_id",
  "forced_eos_token_id",
]);

/** Content of generation_config.json, otherwise its fields in config.json; and what config.json alone states of tasks. Undefined: there is none. */
function generationFields(config: JsonObject, stated: JsonObject | undefined): JsonObject | undefined {
  const older = Object.entries(config).filter(([name, value]) => generationNames.has(name) && value !== null);
  const { task_specific_params: tasks } = config;
  const fields = { ...(stated ?? Object.fromEntries(older)), ...(isJsonObject(tasks) ? { task_specific_params: tasks } : {}) };
  return Object.keys(fields).length === 0 ? undefined : fields;
}

/** Tasks that are computed from what a head returns. */
const headTasks: ReadonlySet<string> = new Set([
  "fill-mask",
  "question-answering",
  "text-classification",
  "text-generation",
  "text2text-generation",
  "token-classification",
]);

/**
 * Whether a model is used for its hidden states. The task that another manifest states decides; without one the modules do, unless they work on logits, and
 * then the pooling.
 */
function usesHiddenStates(modules: Modules | undefined, text: TextSettings | undefined, [task]: readonly string[] = []): boolean {
  if (modules?.sparse?.type === "SpladePooling" || (task !== undefined && headTasks.has(task))) return false;
  const isPooled = text?.pooling !== undefined || text?.lateInteraction?.hasModules === true;
  return modules?.kind === "transformer" || isPooled || task === "feature-extraction";
}

async function discoverFolderVariants(
  folder: Folder,
  modelPath: string,
  isStatic: boolean,
  mainFile: string | undefined,
): Promise<FoundVariants> {
  if (mainFile === undefined)
    return await readFoundVariants(folder, await findWeightFiles(folder, modelPath, isStatic), folder.displayName);
  const found = await findWeightFiles(folder, modelPath, isStatic).catch((error: unknown): string[] => {
    // The main file may be in a folder that is not searched for weights.
    if (error instanceof InferyardError && error.code === "MODEL_NOT_FOUND") return [];
    throw error;
  });
  const path = pathInside(folder, mainFile, folder.displayName);
  const others = found.filter((file) => pathInside(folder, file, folder.displayName) !== path);
  const { files, unreadable } = await readFoundVariants(folder, [mainFile, ...others], folder.displayName);
  return { files: files.toSorted((a, b) => Number(b.path === path) - Number(a.path === path)), unreadable };
}

function withConfig(file: VariantFile, architecture: string | undefined, config: JsonObject): Variant {
  return { ...omitUndefined({ architecture }), ...file, config };
}
