/** Reads the settings of late-interaction models from PyLate's config_sentence_transformers.json or ColBERT's artifact.metadata. */
import { type Folder, type JsonObject, readJsonObject } from "../model-folder.ts";
import type { LateInteraction, LateInteractionRole } from "../manifest.ts";

/** Python's string.punctuation: the tokens of documents that ColBERT ignores. */
const punctuation = Array.from("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~");

/** Lengths in tokens that both libraries use if a model states none. */
const defaultQueryTokens = 32;
const defaultDocumentTokens = 180;

/**
 * Reads the settings of a late-interaction model (ColBERT) from its folder. Returns undefined if it is not such a model. `config`
 * is the content of config_sentence_transformers.json.
 */
export async function readLateInteraction(folder: Folder, config: JsonObject): Promise<LateInteraction | undefined> {
  if (["query_prefix", "document_prefix", "skiplist_words", "do_query_expansion"].some((key) => key in config)) {
    const words = config["skiplist_words"];
    return {
      query: role(config["query_prefix"], config["query_length"] ?? defaultQueryTokens),
      document: role(config["document_prefix"], config["document_length"] ?? defaultDocumentTokens),
      expandQueries: config["do_query_expansion"] !== false, // PyLate's default is to do it
      attendExpansion: config["attend_to_expansion_tokens"] === true,
      skippedWords: Array.isArray(words) ? words.filter((word) => typeof word === "string") : punctuation,
    };
  }
  const metadata = await readJsonObject(folder, "artifact.metadata");
  if (metadata === undefined) return undefined;
  return {
    query: role(metadata["query_token_id"], metadata["query_maxlen"] ?? defaultQueryTokens),
    document: role(metadata["doc_token_id"], metadata["doc_maxlen"]),
    expandQueries: true,
    attendExpansion: metadata["attend_to_mask_tokens"] === true,
    skippedWords: metadata["mask_punctuation"] === false ? [] : punctuation,
  };
}

function role(marker: unknown, maxTokens: unknown): LateInteractionRole {
  return {
    ...(typeof marker === "string" && marker !== "" ? { marker } : {}),
    ...(Number.isSafeInteger(maxTokens) && Number(maxTokens) > 2 ? { maxTokens: Number(maxTokens) } : {}),
  };
}
