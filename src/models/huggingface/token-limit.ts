/**
 * The longest text a model takes, from its own files in the order in which sentence-transformers (6.2) looks: what its own
 * configuration says, else the smaller of the model's positions and the tokenizer's limit.
 */
import { type Folder, type JsonObject, readJsonObject } from "../model-folder.ts";

export interface TokenLimit {
  readonly maxTokens: number;
  /** The file and key it was read from. */
  readonly source: string;
}

/** The name of this file changed with the kind of model; the first one that is there counts. */
export const sentenceConfigFiles: readonly string[] = [
  "bert",
  "roberta",
  "distilbert",
  "camembert",
  "albert",
  "xlm-roberta",
  "xlnet",
].map((kind) => `sentence_${kind}_config.json`);

/** sentence-transformers' own configuration of its Transformer module, with the file's name. */
export async function readSentenceConfig(folder: Folder): Promise<{ file: string; config: JsonObject } | undefined> {
  for (const file of sentenceConfigFiles) {
    const config = await readJsonObject(folder, file);
    if (config !== undefined) return { file, config };
  }
  return undefined;
}

/** Undefined: no limit. */
export function tokenLimit(
  sentence: { file: string; config: JsonObject } | undefined,
  config: JsonObject,
  tokenizerConfig: JsonObject,
): TokenLimit | undefined {
  if (sentence !== undefined) {
    // Newer files hand the limit to the tokenizer's settings, under either of two names.
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

/** These count positions from the padding token's id on, so that many and one more cannot be used. */
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

/** These call the key otherwise. */
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

/** transformers writes 1e30 for "no limit", XLNet -1. */
function asLimit(value: unknown): number | undefined {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}
