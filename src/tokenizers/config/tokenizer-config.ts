/**
 * What tokenizer_config.json and sentence_bert_config.json change about tokenizer.json. The reference implementation
 * (transformers 4 and 5) lets them win, and a tokenizer.json that says otherwise gives other vectors without a word.
 */
import type { TextSettings } from "../../models/manifest.ts";
import type { ComponentConfig } from "./component-config.ts";
import type { TokenizerJson } from "./tokenizer-json.ts";

/** Tokenizer classes whose BertNormalizer follows tokenizer_config.json in transformers 4.48 and 5.23. */
const bertClass =
  /^(Bert|DistilBert|Electra|MobileBert|ConvBert|SqueezeBert|LayoutLM|Lxmert|Funnel|Retribert|Realm)Tokenizer(Fast)?$/;

/** Settings of BertNormalizer by the names tokenizer_config.json gives them. */
const bertSettings = {
  lowercase: "do_lower_case",
  strip_accents: "strip_accents",
  handle_chinese_chars: "tokenize_chinese_chars",
};

/** tokenizer.json as the model's other files change it. Only what they state counts, not the reference's defaults. */
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
  return { ...json, normalizer };
}

function lowercases(step: ComponentConfig | null): boolean {
  if (step?.type === "Sequence" && Array.isArray(step["normalizers"])) return step["normalizers"].some(lowercases);
  return step?.type === "Lowercase" || (step?.type === "BertNormalizer" && step["lowercase"] === true);
}

/** A special token that tokenizer_config.json names, where it names one: as a text, or as an added token with its traits. */
export function configuredSpecialToken(
  settings: TextSettings,
  role: "pad_token" | "mask_token" | "cls_token",
): string | undefined {
  const named = settings.tokenizerConfig[role];
  const content = typeof named === "object" && named !== null && "content" in named ? named.content : named;
  return typeof content === "string" ? content : undefined;
}
