/** A language model that was loaded to be compared, with what its files say of tokens. */
import { createHash } from "node:crypto";
import type { Runtime } from "../api/runtime.ts";
import { omitUndefined } from "../contract/checked.ts";
import { invalidInput } from "../contract/errors.ts";
import type { Manifest } from "../models/manifest.ts";
import type { ModelHandle } from "../runtime/model-handle.ts";
import { getGenerationConfig } from "../tasks/generation/sampling/end-of-turn.ts";
import type { GenerationConfig } from "../tasks/generation/sampling/generation-config.ts";
import {
  type Prompt,
  checkPrompt,
  requireDecoderStart,
  requireTokenizer,
  requireTokens,
} from "../tasks/generation/text/prompt-tokens.ts";
import { firstTokenDifference } from "../tasks/generation/speculation/same-tokens.ts";
import { loadTokenizer, type Tokenizer } from "../tokenizers/index.ts";
import type { ComparedRun } from "./cross-validation.ts";
import type { PromptTokens, TestedModel } from "./language-run.ts";

/** Special tokens according to a model's files. */
export interface TokenFacts {
  /** The model's tokenizer; undefined if it has none: prompts are then token ids. */
  readonly tokenizer: Tokenizer | undefined;
  readonly config: GenerationConfig;
}

/** A loaded model. */
export interface LoadedLanguage {
  readonly model: TestedModel;
  readonly facts: ComparedRun;
}

/** Which model is loaded, and where. */
export interface LanguagePlacement {
  readonly model: string;
  readonly variant: string | undefined;
  readonly target: string | readonly string[] | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Reads the tokenizer and generation settings of a model, which is not loaded. */
export async function readTokenFacts(manifest: Manifest): Promise<TokenFacts> {
  const tokenizer = manifest.text === undefined ? undefined : await loadTokenizer(manifest.text);
  return { tokenizer, config: getGenerationConfig(manifest, tokenizer) };
}

/** Loads a language model, runs `work` with it, and unloads it if nobody else uses it, so that two models are not in memory at once. */
export async function withLanguage<Result>(
  runtime: Runtime,
  { model, variant, target, signal }: LanguagePlacement,
  work: (loaded: LoadedLanguage) => Promise<Result>,
): Promise<Result> {
  const handle = await runtime.load(model, { kind: "language", ...omitUndefined({ variant, target, signal }) });
  try {
    return await work({ model: handle.language, facts: runFacts(handle) });
  } finally {
    await handle.dispose();
    await runtime.unloadIdle();
  }
}

/** Target, engine and model of a loaded model. */
export function runFacts({ reference, target, decision }: ModelHandle): ComparedRun {
  const { variant, digest = "" } = decision.model;
  return {
    model: reference,
    ...omitUndefined({ variant }),
    digest,
    target,
    library: decision.selected?.library ?? { name: "unknown", version: "unknown" },
  };
}

/** SHA-256 of the tokens of a vocabulary in order, in hexadecimal; "none" for a model without a tokenizer. */
export function tokenizerDigest({ tokenizer }: TokenFacts): string {
  if (tokenizer === undefined) return "none";
  const hash = createHash("sha256");
  for (let id = 0; id < tokenizer.vocabularySize; id += 1) hash.update(`${JSON.stringify(tokenizer.idToToken(id) ?? null)}\n`);
  return hash.digest("hex");
}

/** Throws INPUT_INVALID if a token id means another token to the other model. */
export function requireSameTokenizer(tested: TokenFacts, reference: TokenFacts, names: readonly [string, string]): void {
  const [ours, theirs] = [tested.tokenizer, reference.tokenizer];
  const difference =
    ours === undefined || theirs === undefined
      ? ours === theirs
        ? undefined
        : "only one of them has a tokenizer"
      : (firstTokenDifference(ours, theirs, Math.max(ours.vocabularySize, theirs.vocabularySize)) ?? undefined);
  if (difference === undefined) return;
  throw invalidInput(
    `${names[0]} and ${names[1]} have different tokens: ${difference}`,
    "compare models with the same tokenizer",
  );
}

/** Throws INPUT_INVALID if two models have logits for different numbers of tokens. */
export function requireSameVocabulary(tested: number, reference: number, names: readonly [string, string]): void {
  if (tested === reference) return;
  throw invalidInput(
    `${names[0]} has a vocabulary of ${tested} tokens, and ${names[1]} of ${reference}: their logits cannot be compared`,
    "compare exports of the same model",
  );
}

/** The tokens of a prompt. Models with an encoder read them there, and their decoder begins with its start token. */
export function promptTokens(
  { tokenizer, config }: TokenFacts,
  prompt: Prompt,
  { vocabulary, hasEncoder }: TestedModel["limits"],
): PromptTokens {
  const reader = checkPrompt(prompt, tokenizer, vocabulary);
  const ids = typeof prompt === "string" ? reader?.encode(prompt, { maxTokens: Number.POSITIVE_INFINITY }).ids : prompt;
  const read = requireTokens(ids ?? [], config);
  return hasEncoder ? { tokens: [requireDecoderStart(config)], source: read } : { tokens: read };
}

/** The tokens of a text that continues another, without special tokens. */
export function continuationTokens({ tokenizer }: TokenFacts, text: string): readonly number[] {
  return requireTokenizer(tokenizer).encode(text, { addSpecialTokens: false, maxTokens: Number.POSITIVE_INFINITY }).ids;
}
