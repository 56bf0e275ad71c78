/** Which file of a model holds its tokenizer, and the class of transformers that reads it. */
import type { TextSettings } from "../manifest.ts";
import { type Folder, type JsonObject, displayNameIn, isFile, pathInside } from "../model-folder.ts";

/** Files of vocabularies in the order in which they are looked for where there is no tokenizer.json. */
export const vocabularyFiles: readonly string[] = [
  "tokenizer.model",
  "spiece.model",
  "sentencepiece.bpe.model",
  "spm.model",
  "source.spm",
  "vocab.json",
  "vocab.txt",
];
/** The file with the merges of byte-level BPE, in the folder of vocab.json. */
export const mergesFile = "merges.txt";
/** Files that a vocabulary needs beside it. */
const besides: Readonly<Record<string, string>> = { "vocab.json": mergesFile, "source.spm": "vocab.json" };

/** Classes that `AutoTokenizer` of transformers takes for a `model_type` where no file names one. Other models have their files' own kind. */
const classesByModelType: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    AlbertTokenizer: "albert yoso",
    BertTokenizer:
      "align bark bert blip bros chinese_clip convbert distilbert electra ernie flava git grounding-dino layoutlm lxmert megatron-bert mobilebert nezha nomic_bert qdqbert realm retribert squeezebert tvp vilt visual_bert",
    CamembertTokenizer: "camembert",
    CLIPTokenizer: "aimv2 clip clipseg groupvit omdet-turbo oneformer owlv2 owlvit sam3 xclip",
    DebertaTokenizer: "deberta",
    DebertaV2Tokenizer: "deberta-v2",
    GemmaTokenizer: "gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text recurrent_gemma shieldgemma2 t5gemma",
    GPT2Tokenizer: "blip-2 codegen gpt2 gpt_neo gptj instructblip opt phi starcoder2",
    LlamaTokenizer: "idefics idefics2 llama",
    MarianTokenizer: "marian",
    MBart50Tokenizer: "mbart50",
    MBartTokenizer: "mbart",
    MPNetTokenizer: "mpnet",
    Qwen2Tokenizer:
      "qwen2 qwen2_5_omni qwen2_5_vl qwen2_audio qwen2_moe qwen2_vl qwen3 qwen3_moe qwen3_next qwen3_omni_moe qwen3_vl qwen3_vl_moe",
    RobertaTokenizer: "bart bridgetower clap data2vec-text ibert led lilt longformer mra mvp roberta roberta-prelayernorm",
    T5Tokenizer: "mt5 musicgen musicgen_melody switch_transformers t5",
    XLMRobertaTokenizer: "gte jina_embeddings_v3 metaclip_2 trocr xlm-roberta xmod",
    XLNetTokenizer: "xlnet",
  }).flatMap(([name, types]) => types.split(" ").map((type) => [type, name] as const)),
);

/** Names of classes that stand for any tokenizer. */
const generalClass = /^(PreTrainedTokenizer(Fast)?|TokenizersBackend)$/;

/** Tokenizer file of a model, and its format. */
export type TokenizerFile = Pick<TextSettings, "tokenizerPath" | "tokenizerShown" | "tokenizerFormat" | "tokenizerClass">;

/**
 * The file of a model's tokenizer: the one that inferyard.json states, otherwise tokenizer.json, otherwise the first vocabulary that exists; tokenizer.json if
 * there is none. `inner` is the folder of the first module, whose files take precedence over files of `folder`.
 */
export async function findTokenizerFile(
  folder: Folder,
  inner: Folder,
  {
    stated,
    config,
    tokenizerConfig,
  }: { readonly stated: string | undefined; readonly config: JsonObject; readonly tokenizerConfig: JsonObject },
): Promise<TokenizerFile> {
  if (stated !== undefined) return getSettings(folder, stated, config, tokenizerConfig);
  for (const file of ["tokenizer.json", ...vocabularyFiles]) {
    for (const base of inner.path === folder.path ? [inner] : [inner, folder]) {
      if (await hasVocabulary(base, file)) return getSettings(base, file, config, tokenizerConfig);
    }
  }
  return getSettings(folder, "tokenizer.json", config, tokenizerConfig);
}

async function hasVocabulary(base: Folder, file: string): Promise<boolean> {
  for (const each of [file, ...(besides[file] === undefined ? [] : [besides[file]])])
    if (!(await isFile(`${base.path}/${each}`, displayNameIn(base, each)))) return false;
  return true;
}

function getSettings(base: Folder, file: string, config: JsonObject, tokenizerConfig: JsonObject): TokenizerFile {
  const place = { tokenizerPath: pathInside(base, file, "inferyard.json"), tokenizerShown: displayNameIn(base, file) };
  const format = getFormat(file);
  return format === undefined ? place : { ...place, tokenizerFormat: format, tokenizerClass: getClass(config, tokenizerConfig) };
}

function getFormat(file: string): Exclude<TextSettings["tokenizerFormat"], "gguf"> {
  if (file.endsWith("vocab.txt")) return "vocab.txt";
  if (file.endsWith("vocab.json")) return "vocab.json";
  return /\.(model|spm)$/.test(file) ? "sentencepiece" : undefined;
}

/** The class of the tokenizer; empty if no file names one and the type of the model has none. */
function getClass(config: JsonObject, tokenizerConfig: JsonObject): string {
  const stated = [tokenizerConfig["tokenizer_class"], config["tokenizer_class"]].find((name) => typeof name === "string");
  const type = String(config["model_type"]);
  const registered = Object.hasOwn(classesByModelType, type) ? classesByModelType[type] : undefined;
  if (typeof stated !== "string" || generalClass.test(stated)) return registered ?? "";
  return stated;
}
