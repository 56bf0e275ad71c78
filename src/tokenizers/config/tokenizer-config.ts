/**
 * Overrides of tokenizer.json by tokenizer_config.json and sentence_bert_config.json. They take precedence in transformers 4 and 5, so that
 * ignoring them would silently give other tokens.
 */
import { withConfiguredTokens } from "./configured-tokens.ts";
import type { TextSettings } from "../../models/manifest.ts";
import type { ComponentConfig } from "./component-config.ts";
import type { TokenizerJson } from "./tokenizer-json.ts";

/** Tokenizer classes that apply tokenizer_config.json to BertNormalizer in transformers 4.48 and 5.23. */
const bertClass =
  /^(Bert|DistilBert|Electra|MobileBert|ConvBert|SqueezeBert|LayoutLM|Lxmert|Funnel|Retribert|Realm)Tokenizer(Fast)?$/;

/** Settings of BertNormalizer, each with its key in tokenizer_config.json. */
const bertSettings = {
  lowercase: "do_lower_case",
  strip_accents: "strip_accents",
  handle_chinese_chars: "tokenize_chinese_chars",
};

/**
 * Applies the overrides that tokenizer_config.json states to the content of tokenizer.json. Only keys that are present in the
 * files count, not the defaults of transformers.
 */
export function applyTokenizerConfig(json: TokenizerJson, settings: TextSettings): TokenizerJson {
  const config = settings.tokenizerConfig;
  let { normalizer } = json;
  if (normalizer?.type === "BertNormalizer" && bertClass.test(String(config["tokenizer_class"]))) {
    const stated = Object.entries(bertSettings).filter(([, key]) => Object.hasOwn(config, key));
    normalizer = { ...normalizer, ...Object.fromEntries(stated.map(([setting, key]) => [setting, config[key]])) };
  }
  if (settings.lowercase && !lowercases(normalizer)) {
    normalizer = { type: "Sequence", normalizers: [{ type: "Lowercase" }, ...(normalizer === null ? [] : [normalizer])] };
  }
  const overridden = { ...json, normalizer };
  // A GGUF file states the kind of each token itself, and static embeddings use the Rust library without transformers.
  const isWhole = settings.tokenizerFormat === "gguf" || !settings.specialTokens;
  return isWhole ? overridden : withConfiguredTokens(overridden, config);
}

function lowercases(step: ComponentConfig | null): boolean {
  if (step?.type === "Sequence" && Array.isArray(step["normalizers"])) return step["normalizers"].some(lowercases);
  return step?.type === "Lowercase" || (step?.type === "BertNormalizer" && step["lowercase"] === true);
}

/** The special token that tokenizer_config.json names for a role, as a string or as an added-token object; undefined if it names none. */
export function configuredSpecialToken(
  settings: TextSettings,
  role: "pad_token" | "mask_token" | "cls_token",
): string | undefined {
  const named = settings.tokenizerConfig[role];
  const content = typeof named === "object" && named !== null && "content" in named ? named.content : named;
  return typeof content === "string" ? content : undefined;
}
