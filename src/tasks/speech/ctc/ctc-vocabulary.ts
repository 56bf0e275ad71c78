/** Vocabularies of models that transcribe by CTC: characters, a blank, and a token between words. */
import { InferyardError } from "../../../contract/errors.ts";
import type { JsonObject } from "../../../models/model-folder.ts";
import type { MediaModel } from "../../definition/media-task.ts";

/** Tokens of a CTC model. */
export interface CtcVocabulary {
  /** The token of each column of the logits; "" where there is none. */
  readonly tokens: readonly string[];
  /** Index of the blank: a repeated token stands for two only with a blank between. */
  readonly blank: number;
  /** Index of the token that ends a word. Undefined: the text has no spaces. */
  readonly delimiter: number | undefined;
  readonly lowerCase: boolean;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Ids by token: those of tokenizer.json with its added tokens, or of vocab.json. */
function readIds(tokenizer: JsonObject | undefined, vocab: JsonObject | undefined): ReadonlyMap<string, number> | undefined {
  const model = tokenizer?.["model"];
  const stated = isObject(model) ? model["vocab"] : vocab;
  if (!isObject(stated)) return undefined;
  const ids = new Map<string, number>();
  for (const [token, id] of Object.entries(stated)) if (typeof id === "number") ids.set(token, id);
  const added = tokenizer?.["added_tokens"];
  for (const each of Array.isArray(added) ? added : [])
    if (isObject(each) && typeof each["content"] === "string" && typeof each["id"] === "number")
      ids.set(each["content"], each["id"]);
  return ids;
}

/** A token's name in tokenizer_config.json: a string, or an object with its content. */
function readToken(value: unknown, byDefault: string): string {
  if (isObject(value) && typeof value["content"] === "string") return value["content"];
  return typeof value === "string" ? value : byDefault;
}

/** Reads the vocabulary of a model from tokenizer.json, or else vocab.json, and tokenizer_config.json. Throws MODEL_UNSUPPORTED if it has neither. */
export async function readCtcVocabulary(model: MediaModel): Promise<CtcVocabulary> {
  const [tokenizer, vocab, settings, config] = await Promise.all(
    ["tokenizer.json", "vocab.json", "tokenizer_config.json", "config.json"].map((file) => model.readJson(file)),
  );
  const ids = readIds(tokenizer, vocab);
  if (ids === undefined || ids.size === 0)
    throw new InferyardError("MODEL_UNSUPPORTED", `${model.manifest.name} has no vocabulary, from which a text is put together`, {
      remedy: "put its tokenizer.json, or vocab.json, beside its weights",
    });
  const decoder = tokenizer?.["decoder"];
  const stated = isObject(decoder) ? decoder : {};
  const blankToken = readToken(settings?.["pad_token"] ?? stated["pad_token"], "<pad>");
  const blank = ids.get(blankToken) ?? config?.["pad_token_id"];
  if (typeof blank !== "number")
    throw new InferyardError("MODEL_INVALID", `the vocabulary of ${model.manifest.name} has no blank: the token "${blankToken}"`);
  const size = Math.max(...ids.values()) + 1;
  if (!(size <= 1_000_000))
    throw new InferyardError("MODEL_INVALID", `the vocabulary of ${model.manifest.name} has the id ${size - 1}`);
  const tokens = Array.from({ length: size }, () => "");
  for (const [token, id] of ids) tokens[id] = token;
  const delimiter = ids.get(readToken(settings?.["word_delimiter_token"] ?? stated["word_delimiter_token"], "|"));
  return { tokens, blank, delimiter, lowerCase: settings?.["do_lower_case"] === true };
}
