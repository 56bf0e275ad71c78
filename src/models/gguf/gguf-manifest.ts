/** What the metadata of a GGUF file states of a model: its class and configuration, its tokenizer and pooling, how text is generated. */
import { omitUndefined } from "../../contract/checked.ts";
import { ggufBoolean, ggufNumber, ggufText, type GgufValue } from "../../formats/gguf/gguf-metadata.ts";
import { ggufPooling, huggingFaceModel } from "../../formats/gguf/models/architectures.ts";
import { ggufPostPooling } from "../../formats/gguf/models/post-pooling.ts";
import { type GgufModel, readGgufModel } from "../../formats/gguf/models/read-model.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { Manifest, Pooling, TextSettings, VectorModule } from "../manifest.ts";
import { ggufArchitectureKey } from "./architecture-key.ts";
import { endTokens } from "./end-tokens.ts";

/** Fields of a manifest that come from a GGUF file. */
export interface GgufDescription extends Pick<Manifest, "tasks" | "text" | "generation" | "chatTemplates" | "license"> {
  /** Class name in Hugging Face transformers; for an architecture without a counterpart there, its name in llama.cpp. */
  readonly architecture: string;
  /** The settings in the form of config.json. */
  readonly config: Readonly<Record<string, unknown>>;
  /** "fp32" if all weights are in single precision. Of others it is not stated: files mix types. */
  readonly precision?: "fp32";
  /** Bytes of all parts of the model. */
  readonly bytes: number;
  /** ggml types of the tensors, without duplicates. */
  readonly tensorTypes: readonly string[];
}

/** Reads the description of the GGUF model at `path`; `displayName` is the path as the user wrote it. Throws as `readGgufModel` does. */
export async function describeGguf(path: string, displayName: string): Promise<GgufDescription> {
  const model = await readGgufModel(path, displayName, "everything");
  const { metadata, architecture, bytes } = model;
  const translated = await translate(model);
  const { className = architecture, config = getSizes(model) } = translated ?? {};
  const pooling = getPooling(model);
  const isLanguage = /(?:ForCausalLM|LMHeadModel)$/.test(className) || (translated === undefined && pooling === undefined);
  const isReranker = ggufPooling(model) === "rank";
  return {
    architecture: className,
    config: { ...config, [ggufArchitectureKey]: architecture },
    bytes,
    tasks: [isReranker ? "text-classification" : isLanguage ? "text-generation" : "feature-extraction"],
    ...(model.tensors.size > 0 && [...model.tensors.values()].every(({ type }) => type === "F32") ? { precision: "fp32" } : {}),
    tensorTypes: [...new Set([...model.tensors.values()].map(({ type }) => type))],
    ...omitUndefined({
      text: textSettings(model, { path, displayName, pooling, isLanguage, isReranker }),
      generation: getGeneration(metadata),
      chatTemplates: chatTemplates(metadata),
      license: ggufText(metadata, "general.license"),
    }),
  };
}

/** The class and configuration; undefined if the engine has no counterpart of the model, which other engines may run. */
async function translate(model: GgufModel): ReturnType<typeof huggingFaceModel> {
  return await huggingFaceModel(model).catch(undefinedIfUnsupported);
}

function undefinedIfUnsupported(error: unknown): undefined {
  if (error instanceof InferyardError && error.code === "MODEL_UNSUPPORTED") return undefined;
  throw error;
}

/** The sizes that files of every architecture state, by their names in config.json. */
function getSizes({ metadata, architecture, tensors }: GgufModel): Readonly<Record<string, unknown>> {
  const number = (key: string): number | undefined => ggufNumber(metadata, `${architecture}.${key}`);
  return omitUndefined({
    max_position_embeddings: number("context_length"),
    num_hidden_layers: number("block_count"),
    hidden_size: number("embedding_length"),
    intermediate_size: number("feed_forward_length"),
    num_attention_heads: number("attention.head_count"),
    num_key_value_heads: number("attention.head_count_kv"),
    head_dim: number("attention.key_length"),
    vocab_size: tensors.get("token_embd.weight")?.shape[1],
    num_labels: tensors.get("cls.output.weight")?.shape[1],
  });
}

const poolings: Readonly<Partial<Record<string, Pooling>>> = { none: "none", mean: "mean", cls: "cls", last: "last" };

function getPooling(model: GgufModel): Pooling | undefined {
  const stated = ggufPooling(model);
  return stated === undefined ? undefined : poolings[stated];
}

interface TextSources {
  readonly path: string;
  readonly displayName: string;
  readonly pooling: Pooling | undefined;
  readonly isLanguage: boolean;
  readonly isReranker: boolean;
}

/** Undefined if the file has no tokenizer. */
function textSettings(model: GgufModel, sources: TextSources): TextSettings | undefined {
  const { metadata, architecture } = model;
  if (!metadata.has("tokenizer.ggml.model")) return undefined;
  const { path, displayName, pooling, isLanguage, isReranker } = sources;
  const context = ggufNumber(metadata, `${architecture}.context_length`);
  return {
    tokenizerPath: path,
    tokenizerShown: displayName,
    tokenizerFormat: "gguf",
    tokenizerConfig: tokenizerConfig(metadata),
    ...(isLanguage || context === undefined
      ? {}
      : { maxTokens: context, maxTokensSource: `${displayName} ${architecture}.context_length` }),
    specialTokens: true,
    dropUnknown: false,
    lowercase: false,
    ...(isLanguage || isReranker || pooling === undefined ? {} : { pooling }),
    poolPrompt: true,
    ...omitUndefined({ vectorModules: vectorModules(model, sources) }),
    // llama.cpp scales the vectors of all embedding models to unit length.
    normalize: !isLanguage && !isReranker && pooling !== "none",
    prompts: {},
  };
}

/** The layers after the pooling. Undefined: there are none, or the vectors of tokens are not pooled. */
function vectorModules(model: GgufModel, { displayName, pooling }: TextSources): readonly VectorModule[] | undefined {
  const layers = pooling === "none" ? [] : ggufPostPooling(model);
  if (layers.length === 0) return undefined;
  return layers.map(({ name, path, inFeatures, outFeatures, bias }) => ({
    kind: "dense",
    weights: { path, displayName, format: "gguf" },
    inFeatures,
    outFeatures,
    bias,
    activation: "Identity",
    prefix: `${name}.`,
  }));
}

/** Special tokens by their names in tokenizer_config.json, and the keys of their ids; of equal names the last that is stated counts. */
const specialTokens: readonly (readonly [name: string, key: string])[] = Object.entries({
  bos_token: "bos_token_id",
  eos_token: "eos_token_id",
  unk_token: "unknown_token_id",
  pad_token: "padding_token_id",
  sep_token: "seperator_token_id",
  cls_token: "cls_token_id",
  mask_token: "mask_token_id",
}).concat([
  // Filling in the middle: llama.cpp's keys until 2024, and since.
  ["prefix_token", "prefix_token_id"],
  ["suffix_token", "suffix_token_id"],
  ["middle_token", "middle_token_id"],
  ["prefix_token", "fim_pre_token_id"],
  ["suffix_token", "fim_suf_token_id"],
  ["middle_token", "fim_mid_token_id"],
]);

function tokenizerConfig(metadata: ReadonlyMap<string, GgufValue>): Readonly<Record<string, unknown>> {
  const tokens = metadata.get("tokenizer.ggml.tokens");
  const items = tokens?.type === "array" ? tokens.items : [];
  const named = specialTokens.flatMap(([name, key]) => {
    const id = ggufNumber(metadata, `tokenizer.ggml.${key}`);
    const token = id === undefined ? undefined : items[id];
    return typeof token === "string" ? [[name, token] as const] : [];
  });
  const addsBos = ggufBoolean(metadata, "tokenizer.ggml.add_bos_token");
  return { ...Object.fromEntries(named), ...omitUndefined({ add_bos_token: addsBos }) };
}

/** The tokens that begin, pad and end a text, with the names of generation_config.json. */
function getGeneration(metadata: ReadonlyMap<string, GgufValue>): Readonly<Record<string, unknown>> | undefined {
  const ends = endTokens(metadata);
  const fields = omitUndefined({
    bos_token_id: tokenId(metadata, "bos_token_id"),
    pad_token_id: tokenId(metadata, "padding_token_id"),
    eos_token_id: ends.length === 0 ? undefined : ends,
  });
  return Object.keys(fields).length === 0 ? undefined : fields;
}

/** An id that is stated and in the vocabulary. */
function tokenId(metadata: ReadonlyMap<string, GgufValue>, key: string): number | undefined {
  const id = ggufNumber(metadata, `tokenizer.ggml.${key}`);
  const tokens = metadata.get("tokenizer.ggml.tokens");
  return id !== undefined && tokens?.type === "array" && id < tokens.length ? id : undefined;
}

/** Templates are named by what follows "tokenizer.chat_template."; the main one has no name. */
function chatTemplates(metadata: ReadonlyMap<string, GgufValue>): Readonly<Record<string, string>> | undefined {
  const key = "tokenizer.chat_template";
  const templates = [...metadata].flatMap(([name, value]) => {
    if (value.type !== "string" || (name !== key && !name.startsWith(`${key}.`))) return [];
    return [[name === key ? "default" : name.slice(key.length + 1), value.value] as const];
  });
  return templates.length === 0 ? undefined : Object.fromEntries(templates);
}
