/** Fill-in-the-middle prompts (Bavarian et al. 2022): what stands between a prefix and a suffix is generated. */
import { type InferyardError, invalidInput } from "../../../contract/errors.ts";
import type { Tokenizer } from "../../../tokenizers/index.ts";

/** Names of the tokens of one family, and the order of the parts. */
interface FillInMiddleForm {
  readonly prefix: string;
  readonly suffix: string;
  /** Absent: the prefix is the last part, and generation goes on from it. */
  readonly middle?: string;
}

/** Known vocabularies. Those before others of a similar name come first. */
const knownForms: readonly FillInMiddleForm[] = [
  { prefix: "<|fim_prefix|>", suffix: "<|fim_suffix|>", middle: "<|fim_middle|>" }, // Qwen-Coder, CodeGemma, StableCode
  { prefix: "<fim_prefix>", suffix: "<fim_suffix>", middle: "<fim_middle>" }, // StarCoder, Granite
  { prefix: "<fim-prefix>", suffix: "<fim-suffix>", middle: "<fim-middle>" }, // SantaCoder
  { prefix: "<｜fim▁begin｜>", suffix: "<｜fim▁hole｜>", middle: "<｜fim▁end｜>" }, // DeepSeek
  { prefix: "▁<PRE>", suffix: "▁<SUF>", middle: "▁<MID>" }, // Code Llama
  { prefix: "<PRE>", suffix: "<SUF>", middle: "<MID>" },
  { prefix: "<|code_prefix|>", suffix: "<|code_suffix|>", middle: "<|code_middle|>" }, // GLM
  { prefix: "<|prefix|>", suffix: "<|suffix|>", middle: "<|middle|>" },
  { prefix: "[PREFIX]", suffix: "[SUFFIX]" }, // Codestral
];

/** Tokens with which such models end the middle, beside their usual end tokens. */
const endNames: readonly string[] = [
  "▁<EOT>",
  "<EOT>",
  "<|endoftext|>",
  "<|end_of_text|>",
  "<|fim_pad|>",
  "<fim_pad>",
  "<|repo_name|>",
  "<|file_sep|>",
  "<|file_separator|>",
  "<file_sep>",
];

/** The tokens of a model that was trained to fill in. */
export interface FillInMiddle {
  readonly prefix: number;
  readonly suffix: number;
  readonly middle: number | undefined;
  /** Tokens that end the middle. */
  readonly ends: readonly number[];
}

/**
 * The tokens named in tokenizer_config.json (`prefix_token`, `suffix_token`, `middle_token`; in the metadata of a GGUF file), else by known names in the
 * vocabulary. Undefined: according to its files the model was not trained to fill in.
 */
export function fillInMiddleTokens(
  tokenizer: Pick<Tokenizer, "tokenToId">,
  tokenizerConfig: Readonly<Record<string, unknown>> = {},
): FillInMiddle | undefined {
  const ends = endNames.flatMap((name) => tokenizer.tokenToId(name) ?? []);
  for (const form of [...statedForm(tokenizerConfig), ...knownForms]) {
    const prefix = tokenizer.tokenToId(form.prefix);
    const suffix = tokenizer.tokenToId(form.suffix);
    const middle = form.middle === undefined ? undefined : tokenizer.tokenToId(form.middle);
    if (prefix === undefined || suffix === undefined || (form.middle !== undefined && middle === undefined)) continue;
    return { prefix, suffix, middle, ends };
  }
  return undefined;
}

function statedForm(config: Readonly<Record<string, unknown>>): readonly FillInMiddleForm[] {
  const [prefix, suffix, middle] = ["prefix_token", "suffix_token", "middle_token"].map((key) => getContent(config[key]));
  return prefix === undefined || suffix === undefined || middle === undefined ? [] : [{ prefix, suffix, middle }];
}

/** A token is written as its text, or as an object with it. */
function getContent(token: unknown): string | undefined {
  const content: unknown = typeof token === "object" && token !== null ? Reflect.get(token, "content") : token;
  return typeof content === "string" ? content : undefined;
}

/** The prompt with both parts: the prefix first, as models are run that know both orders; for a form without a middle token the suffix first. */
export function fillInMiddlePrompt(
  { prefix, suffix, middle }: FillInMiddle,
  { start, before, after }: Readonly<Record<"start" | "before" | "after", readonly number[]>>,
): readonly number[] {
  return middle === undefined
    ? [...start, suffix, ...after, prefix, ...before]
    : [...start, prefix, ...before, suffix, ...after, middle];
}

/** The error for a suffix that a model cannot fill in before. */
export function noFillInMiddle(name: string): InferyardError {
  return invalidInput(
    `a suffix is given, and ${name} has no tokens for filling in the middle`,
    "leave suffix out, or use a model that was trained for it, such as a Qwen-Coder base model",
  );
}
