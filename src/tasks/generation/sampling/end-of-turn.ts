/**
 * The tokens that end a text or a turn. Published models state them in several files, which disagree: generation_config.json, config.json, the tokenizer's eos_token and
 * the chat template. Each of them ends a text, as in vLLM and SGLang.
 */
import type { Manifest } from "../../../models/manifest.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";
import { isObject } from "../../../contract/shapes/shape.ts";
import { type GenerationConfig, readGenerationConfig } from "./generation-config.ts";

/** Reads tokens and their ids. */
export type TokenReader = Pick<Tokenizer, "decode" | "encode" | "tokenToId" | "idToToken">;

/** Texts of tokens that are no text of an answer, where the tokenizer does not call them special: `<|im_end|>`, `<end_of_turn>`, `[EOS]`, `</s>`. */
const controlText = /^(?:<\|.*\|?>|<\|?.*\|>|<｜.*｜>|<\/?[\w\p{L}:]+>|\[[\w/]+\]|\[e~\[)$/u;

/**
 * Settings of generation in the model's files, with the end tokens of all of them, first the ones in generation_config.json. `tokenizer`: undefined if the
 * model has none. Throws as `readGenerationConfig` does.
 */
export function getGenerationConfig(manifest: Manifest, tokenizer: TokenReader | undefined): GenerationConfig {
  const config = readGenerationConfig(manifest.generation ?? {});
  const { eos_token: named } = manifest.text?.tokenizerConfig ?? {};
  const text = isObject(named) ? named["content"] : named;
  const eos = typeof text === "string" ? tokenizer?.tokenToId(text) : undefined;
  const others = manifest.variants.flatMap((variant) => configEnds(variant.config));
  // Older versions of transformers wrote the default id of the model's class, which may be any word of the vocabulary.
  const stated = others.filter((id) => tokenizer === undefined || isControlToken(id, tokenizer));
  const endTokens = [...new Set([...config.endTokens, ...(eos === undefined ? [] : [eos]), ...stated])];
  return { ...config, endTokens };
}

/** End of a turn in addition to the tokens in the model's files: a token, or a text that is not a token of the vocabulary. */
export interface TurnEnd {
  readonly endTokens?: readonly number[];
  readonly stop?: readonly string[];
}

/** The end of a turn according to the text that a chat template writes there: its first token, or else its first word if that looks like a token. */
export function getTurnEnd(written: string, tokenizer: TokenReader): TurnEnd {
  const text = written.trimStart().slice(0, 64);
  const [first] = tokenizer.encode(text, { addSpecialTokens: false, maxTokens: 32 }).ids;
  if (first !== undefined && isControlToken(first, tokenizer)) return { endTokens: [first] };
  const [marker] = /^(?:<\|[^|<>\s]+\|>|<｜[^｜<>\s]+｜>|<[\w\p{L}:]+>|<\/s>)/u.exec(text) ?? [];
  return marker === undefined ? {} : { stop: [marker] };
}

function isControlToken(id: number, tokenizer: TokenReader): boolean {
  if (controlText.test(tokenizer.idToToken(id) ?? "")) return true;
  return tokenizer.decode([id]) === "" && tokenizer.decode([id], { skipSpecialTokens: false }) !== "";
}

/** `eos_token_id` of config.json, and of its part about text. */
function configEnds(config: Readonly<Record<string, unknown>>): readonly number[] {
  const { eos_token_id: ids, text_config: text } = config;
  const own = (Array.isArray(ids) ? (ids as readonly unknown[]) : [ids]).filter(
    (id): id is number => typeof id === "number" && Number.isSafeInteger(id) && id >= 0,
  );
  return isObject(text) ? [...own, ...configEnds(text)] : own;
}
