/**
 * The longest input of a model in tokens, as sentence-transformers 6.2 determines it: the limit in its own configuration file, else the smaller of the number
 * of position embeddings and the limit of the tokenizer.
 */
import { type Folder, type JsonObject, readJsonObject } from "../model-folder.ts";

/** The longest input of a model, and the file and key that state it. */
export interface TokenLimit {
  /** Longest input in tokens, special tokens included. */
  readonly maxTokens: number;
  /** The file and key that it was read from. */
  readonly source: string;
}

/**
 * File names that sentence-transformers has used for the configuration of a Transformer module; which one depended on the kind of
 * model. The first that exists is read.
 */
export const sentenceConfigFiles: readonly string[] = [
  "bert",
  "roberta",
  "distilbert",
  "camembert",
  "albert",
  "xlm-roberta",
  "xlnet",
].map((kind) => `sentence_${kind}_config.json`);

/**
 * Reads sentence-transformers' configuration of the Transformer module in the folder. Returns its content and file name, or
 * undefined if there is none.
 */
export async function readSentenceConfig(folder: Folder): Promise<{ file: string; config: JsonObject } | undefined> {
  for (const file of sentenceConfigFiles) {
    const config = await readJsonObject(folder, file);
    if (config !== undefined) return { file, config };
  }
  return undefined;
}

/**
 * The longest input of a model in tokens, or undefined if it has no limit. `sentence` is the result of `readSentenceConfig`, `config` the content of
 * config.json, `tokenizerConfig` the content of tokenizer_config.json.
 */
export function readTokenLimit(
  sentence: { file: string; config: JsonObject } | undefined,
  config: JsonObject,
  tokenizerConfig: JsonObject,
): TokenLimit | undefined {
  if (sentence !== undefined) {
    // Newer files have the limit among the settings of the tokenizer, under either of two names.
    for (const key of ["processor_kwargs", "tokenizer_args"]) {
      const settings = sentence.config[key] as JsonObject | null | undefined;
      const limit = asLimit(settings?.["model_max_length"]);
      if (limit !== undefined) return { maxTokens: limit, source: `${sentence.file} ${key}.model_max_length` };
    }
    const limit = asLimit(sentence.config["max_seq_length"]);
    if (limit !== undefined) return { maxTokens: limit, source: `${sentence.file} max_seq_length` };
  }
  const positions = positionLimit(config);
  const tokenizer = asLimit(tokenizerConfig["model_max_length"]);
  if (tokenizer !== undefined && tokenizer <= (positions?.maxTokens ?? Infinity)) {
    return { maxTokens: tokenizer, source: "tokenizer_config.json model_max_length" };
  }
  return positions;
}

/** Architectures that number positions from pad_token_id + 1, so that the first pad_token_id + 1 position embeddings are never used. */
const offsetPositions = new Set([
  "roberta",
  "roberta-prelayernorm",
  "xlm-roberta",
  "xlm-roberta-xl",
  "camembert",
  "mpnet",
  "longformer",
  "data2vec-text",
  "xmod",
]);

/** Architectures with another name for `max_position_embeddings`. */
const positionKeys: Readonly<Record<string, string>> = { gpt2: "n_positions", gptj: "n_positions", "openai-gpt": "n_positions" };

function positionLimit(config: JsonObject): TokenLimit | undefined {
  const type = String(config["model_type"]);
  const key = positionKeys[type] ?? "max_position_embeddings";
  const positions = asLimit(config[key]);
  if (positions === undefined) return undefined;
  if (!offsetPositions.has(type)) return { maxTokens: positions, source: `config.json ${key}` };
  const padding = config["pad_token_id"];
  const offset = (typeof padding === "number" ? padding : 1) + 1;
  return { maxTokens: positions - offset, source: `config.json ${key}, less the ${offset} that ${type} keeps back` };
}

/** A limit from a file, or undefined if there is none: transformers writes 1e30 for "no limit", XLNet -1. */
function asLimit(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
