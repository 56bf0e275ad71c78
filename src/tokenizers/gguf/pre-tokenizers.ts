/**
 * How text is split before byte-level BPE, by the names that llama.cpp gives to it (`tokenizer.ggml.pre`), as in the tokenizer.json of the models that have
 * them. Sources: `get_vocab_base_pre` of convert_hf_to_gguf.py, and the tokenizer.json of the models named there.
 */
import type { ComponentConfig } from "../config/component-config.ts";

/** A way to split text. */
export interface PreTokenization {
  readonly pre_tokenizer: ComponentConfig;
  /** Unicode normalization before. */
  readonly normalizer?: ComponentConfig;
  /** Whether a piece that is a token as a whole is not merged from its bytes. */
  readonly ignoresMerges?: boolean;
  /** Whether texts begin with the BOS token where the file does not state it. */
  readonly addsBos?: boolean;
}

const contractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
/** What follows the words and numbers in cl100k_base and in those made like it. */
const signsAndSpaces = "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
/** Words of cl100k_base with numbers of up to `digits` digits. */
const wordsAndNumbers = (digits: string): string =>
  `${contractions}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}${digits}${signsAndSpaces}`;
/** Words of o200k_base, which end where lower case turns to upper case. */
const casedWords = (ending: string): string => {
  const before = "[^\\r\\n\\p{L}\\p{N}]?";
  const [upper, lower] = ["[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]", "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"];
  return `${before}${upper}*${lower}+${ending}|${before}${upper}+${lower}*${ending}`;
};
const signsAndSlashes = "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

const byteLevel = (splitsWords: boolean): ComponentConfig => ({
  type: "ByteLevel",
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: splitsWords,
});

const split = (pattern: string): ComponentConfig => ({
  type: "Split",
  pattern: { Regex: pattern },
  behavior: "Isolated",
  invert: false,
});

const sequence = (...steps: readonly ComponentConfig[]): ComponentConfig => ({ type: "Sequence", pretokenizers: steps });

/** Splits by a pattern alone. */
const by = (...patterns: readonly string[]): ComponentConfig => sequence(...patterns.map(split), byteLevel(false));

const gpt2: PreTokenization = { pre_tokenizer: byteLevel(true) };
const digits: ComponentConfig = { type: "Digits", individual_digits: true };
/** Each digit apart, then as GPT-2. */
const digitsThenGpt2: PreTokenization = { pre_tokenizer: sequence(digits, byteLevel(true)) };
const llama3: PreTokenization = { pre_tokenizer: by(wordsAndNumbers("{1,3}")), ignoresMerges: true, addsBos: true };
const qwen2: PreTokenization = { pre_tokenizer: by(wordsAndNumbers("")), normalizer: { type: "NFC" } };
const gpt4o: PreTokenization = {
  pre_tokenizer: by(`${casedWords(`${contractions}?`)}|\\p{N}{1,3}${signsAndSlashes}`),
};

const known: Readonly<Record<string, PreTokenization>> = {
  "gpt-2": gpt2,
  gpt2,
  phi2: gpt2,
  mpt: gpt2,
  olmo: gpt2,
  jais: gpt2,
  "jina-es": gpt2,
  "jina-de": gpt2,
  "jina-v1-en": gpt2,
  "jina-v2-es": gpt2,
  "jina-v2-de": gpt2,
  "jina-v2-code": gpt2,
  "roberta-bpe": gpt2,
  gigachat: gpt2,
  smollm: digitsThenGpt2,
  starcoder: digitsThenGpt2,
  refact: digitsThenGpt2,
  "command-r": digitsThenGpt2,
  codeshell: digitsThenGpt2,
  exaone: digitsThenGpt2,
  "minerva-7b": digitsThenGpt2,
  "llama-bpe": llama3,
  llama3,
  "llama-v3": llama3,
  falcon3: llama3,
  pixtral: llama3,
  dbrx: { pre_tokenizer: by(wordsAndNumbers("{1,3}")) },
  smaug: { pre_tokenizer: by(wordsAndNumbers("{1,3}")) },
  "smaug-bpe": { pre_tokenizer: by(wordsAndNumbers("{1,3}")) },
  qwen2,
  "deepseek-r1-qwen": qwen2,
  stablelm2: qwen2,
  hunyuan: qwen2,
  megrez: qwen2,
  tekken: {
    pre_tokenizer: by(`${casedWords("")}|\\p{N}${signsAndSlashes}`),
    ignoresMerges: true,
    addsBos: true,
  },
  "gpt-4o": gpt4o,
  llama4: gpt4o,
};

/** The way to split text of this name. Throws Error for an unknown name, since any other way would give other tokens. */
export function preTokenizationOf(name: string): PreTokenization {
  const found = Object.hasOwn(known, name) ? known[name] : undefined;
  if (found !== undefined) return found;
  throw new Error(
    `its text is split as "${name}" (tokenizer.ggml.pre), which is not known; known are ${Object.keys(known).join(", ")}`,
  );
}
