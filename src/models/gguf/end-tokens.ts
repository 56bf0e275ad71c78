/** The tokens with which a model ends a text or its turn in a chat. */
import { ggufNumber, ggufNumbers, ggufTexts, type GgufValue } from "../../formats/gguf/gguf-metadata.ts";

/** Keys of ids: end of text, of a turn, and of a message before a tool is called. */
const keys = ["eos_token_id", "eot_token_id", "eom_token_id"];

/**
 * Texts of tokens that end a turn. Files converted before llama.cpp had a key for them state only the end of the text, so these are looked up in the
 * vocabulary, as llama.cpp does.
 */
const texts: ReadonlySet<string> = new Set([
  "<|eot_id|>",
  "<|im_end|>",
  "<|end|>",
  "<end_of_turn>",
  "<|endoftext|>",
  "<|eom_id|>",
  "< EOT >",
  "_<EOT>",
  "<EOT>",
]);

/** `llama_token_type` of llama.h. */
const controlKind = 3;

/** The ids, ascending. Empty if the file states none. */
export function endTokens(metadata: ReadonlyMap<string, GgufValue>): readonly number[] {
  const tokens = ggufTexts(metadata, "tokenizer.ggml.tokens") ?? [];
  const kinds = ggufNumbers(metadata, "tokenizer.ggml.token_type") ?? [];
  const stated = keys.flatMap((key) => ggufNumber(metadata, `tokenizer.ggml.${key}`) ?? []);
  const named = tokens.flatMap((token, id) => (texts.has(token) && kinds[id] === controlKind ? [id] : []));
  return [...new Set([...stated, ...named])]
    .filter((id) => Number.isInteger(id) && id >= 0 && id < tokens.length)
    .sort((a, b) => a - b);
}
