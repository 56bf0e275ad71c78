/** The tokens with which a model ends a text or its turn in a chat: llama.cpp's tokens of end of generation. */
import { ggufNumber, ggufNumbers, ggufTexts, type GgufValue } from "../../formats/gguf/gguf-metadata.ts";

/** Keys of ids: end of text, of a turn, of a message before a tool is called; padding and separators of files in fill-in-the-middle. */
const keys = ["eos_token_id", "eot_token_id", "eom_token_id", "fim_pad_token_id", "fim_rep_token_id", "fim_sep_token_id"];

/**
 * Texts of tokens that end a turn, whatever type the file states: conversions often state the end of the text alone, and type the end of a turn as a normal or
 * user-defined token. llama.cpp overrides the types of the same tokens ("control-looking token").
 */
const endTexts: ReadonlySet<string> = new Set([
  "<|eot_id|>",
  "<|eom_id|>",
  "<|im_end|>",
  "<|end|>",
  "<|return|>",
  "<|call|>",
  "<|calls|>",
  "<|flush|>",
  "<|endoftext|>",
  "<|end_of_text|>",
  "<end_of_turn>",
  "<end_of_utterance>",
  "<turn|>",
  "<|tool_response>",
  "<eos>",
  "[EOS]",
  "[EOT]",
  "<EOT>",
  "_<EOT>",
  "▁<EOT>",
  "< EOT >",
  "<｜end▁of▁sentence｜>",
  "[e~[",
  "<|fim_pad|>",
  "<fim-pad>",
  "<fim_pad>",
  "<|fim_repo|>",
  "<|repo_name|>",
  "<fim-repo>",
  "<REPO>",
  "<reponame>",
  "<|file_sep|>",
]);

/** Texts that end a turn where they are control tokens. Vocabularies with tags of HTML have `</s>` as text. */
const controlEndTexts: ReadonlySet<string> = new Set(["</s>", "<PAD>", "[PAD]"]);

/** `llama_token_type` of llama.h. */
const controlKind = 3;

/** Whether the token with this text is a control token although its file may state another type. */
export function isControlText(text: string): boolean {
  return endTexts.has(text);
}

/** The ids, ascending. Empty if the file states none. */
export function endTokens(metadata: ReadonlyMap<string, GgufValue>): readonly number[] {
  const tokens = ggufTexts(metadata, "tokenizer.ggml.tokens") ?? [];
  const kinds = ggufNumbers(metadata, "tokenizer.ggml.token_type") ?? [];
  // Ollama's converter writes a list where a model has several.
  const listed = ggufNumbers(metadata, "tokenizer.ggml.eos_token_ids") ?? [];
  const stated = [...keys.flatMap((key) => ggufNumber(metadata, `tokenizer.ggml.${key}`) ?? []), ...listed];
  const named = tokens.flatMap((token, id) =>
    endTexts.has(token) || (controlEndTexts.has(token) && kinds[id] === controlKind) ? [id] : [],
  );
  const all = new Set([...stated, ...named].filter((id) => Number.isInteger(id) && id >= 0 && id < tokens.length));
  const texts = new Set([...all].map((id) => tokens[id]));
  // Harmony (gpt-oss) and Solar write several messages in one turn, each ended by <|end|>; the turn is ended by another token.
  const hasCalls = texts.has("<|call|>") || texts.has("<|calls|>");
  const hasMessages = hasCalls && (texts.has("<|return|>") || texts.has("<|flush|>"));
  return [...all].filter((id) => !(hasMessages && tokens[id] === "<|end|>")).sort((a, b) => a - b);
}
