/** Compares two runs of one language model, token by token. */
import type { Runtime } from "../api/runtime.ts";
import { omitUndefined } from "../contract/checked.ts";
import { InferyardError, invalidInput, quoteOption } from "../contract/errors.ts";
import type { Manifest } from "../models/manifest.ts";
import { compareLogits, topToken } from "./compare-logits.ts";
import type {
  CrossValidationOptions,
  LanguageCrossValidation,
  ComparedLanguageRun,
  PositionComparison,
  RecordOptions,
} from "./cross-validation.ts";
import { feedTokens, greedyTokens, measureSpeed, requireRoom, type TestedModel } from "./language-run.ts";
import {
  continuationTokens,
  type LanguagePlacement,
  type LoadedLanguage,
  promptTokens,
  readTokenFacts,
  requireSameTokenizer,
  requireSameVocabulary,
  type TokenFacts,
  tokenizerDigest,
  withLanguage,
} from "./loaded-language.ts";
import { type LogitsRun, readRecording, writeRecording } from "./recording.ts";
import { referenceKind } from "./reference-kind.ts";
import { brokenLimits, summarizePositions } from "./summarize.ts";

/** What is read if nobody says. */
const defaultPrompt = "Once upon a time";
const defaultTokens = 32;
/** Bytes of logits that are kept of the reference. */
const maxLogitsBytes = 1024 ** 3;

/** Compares the runs. Throws as `crossValidate` does. */
export async function crossValidateLanguage(
  runtime: Runtime,
  manifest: Manifest,
  options: CrossValidationOptions,
): Promise<LanguageCrossValidation> {
  const { model, variant, target, texts, record, signal } = options;
  if (texts !== undefined) {
    throw invalidInput(`texts are given, and ${model} is a language model, which reads one prompt`, "give prompt instead");
  }
  const tokenFacts = await readTokenFacts(manifest);
  const reference = await referenceRun(runtime, tokenFacts, options);
  const { prompt, tokens, chosenBy } = reference;
  const followers = tokens.slice(prompt.tokens.length);
  const kept: Float32Array[] = [];
  const tested = await withLanguage(runtime, { model, variant, target, signal }, async (loaded) => {
    const names = [`${model} on ${loaded.facts.target}`, getName(reference)] as const;
    requireSameVocabulary(loaded.model.limits.vocabulary, reference.logits[0]?.length ?? 0, names);
    requireRoom(loaded.model, tokens.length, names[0]);
    await requireModel(runtime, reference, loaded, options);
    const positions: PositionComparison[] = [];
    let fed = 0;
    const compare = (logits: Float32Array, position: number, token: number): void => {
      const comparison = compareLogits(reference.logits[position] ?? new Float32Array(), logits);
      positions.push({ position, token, ...comparison, agrees: comparison.reference.token === comparison.tested.token });
      if (record !== undefined) kept.push(logits.slice());
    };
    await feedTokens(loaded.model, prompt, () => followers[fed++], compare, { name: names[0], signal });
    const speed = await measureSpeed(loaded.model, prompt, followers, signal);
    const chosen = await ownTokens(loaded.model, reference, tokenFacts, positions, signal);
    return { facts: loaded.facts, speed, positions, greedyTokens: chosen };
  });
  if (record !== undefined)
    await writeRecording(record, { ...reference, facts: tested.facts, speed: tested.speed, logits: kept });
  const textOf = tokenFacts.tokenizer && ((token: number) => tokenFacts.tokenizer?.decode([token], keepSpecial) ?? "");
  const speeds = { reference: reference.speed, tested: tested.speed };
  const summary = summarizePositions(tested.positions, speeds, textOf);
  return {
    kind: "language",
    reference: languageFacts(reference, tokenFacts, chosenTokens(reference)),
    tested: languageFacts(tested, tokenFacts, tested.greedyTokens),
    promptTokens: prompt.tokens.length,
    chosenBy,
    positions: tested.positions,
    summary,
    failures: brokenLimits(options, summary, "position"),
  };
}

/** Runs a model and writes the recording. */
export async function recordRun(runtime: Runtime, manifest: Manifest, options: RecordOptions): Promise<ComparedLanguageRun> {
  const { model, variant, target, record, signal } = options;
  const tokenFacts = await readTokenFacts(manifest);
  const run = await computeRun(runtime, { model, variant, target, signal }, tokenFacts, options);
  await writeRecording(record, run);
  return languageFacts(run, tokenFacts, chosenTokens(run));
}

const keepSpecial = { skipSpecialTokens: false };

type ReadOptions = Pick<CrossValidationOptions, "prompt" | "tokens" | "continuation" | "signal">;

/** The run that others are compared with: computed, or read from a recording. */
async function referenceRun(runtime: Runtime, tokenFacts: TokenFacts, options: CrossValidationOptions): Promise<LogitsRun> {
  const { against, model, variant, againstModel, againstVariant, signal } = options;
  const kind = await referenceKind(against);
  if (kind === "recording") return recordedRun(against, tokenFacts, options);
  const other = againstModel ?? model;
  if (againstModel !== undefined) {
    const manifest = await runtime.manifest(againstModel, omitUndefined({ variant: againstVariant, signal }));
    requireSameTokenizer(tokenFacts, await readTokenFacts(manifest), [model, againstModel]);
  }
  const usualVariant = againstModel === undefined ? variant : undefined;
  const placement = { model: other, variant: againstVariant ?? usualVariant, target: against, signal };
  if (kind === "target") return computeRun(runtime, placement, tokenFacts, options);
  // A runtime of its own: the caller's may have another library, or none.
  const { createRuntime } = await import("../api/create-runtime.ts");
  const own = await createRuntime({ library: against, ...omitUndefined({ threads: options.threads }) });
  try {
    const run = await computeRun(own, { ...placement, target: "library" }, tokenFacts, options);
    return { ...run, facts: { ...run.facts, libraryPath: against } };
  } finally {
    await own.dispose();
  }
}

/** Reads a recording. Throws INPUT_INVALID for options that it has answered already, and for another tokenizer. */
async function recordedRun(path: string, tokenFacts: TokenFacts, options: CrossValidationOptions): Promise<LogitsRun> {
  for (const name of ["prompt", "tokens", "continuation"] as const) {
    if (options[name] === undefined) continue;
    throw invalidInput(`${name} is given together with ${path}, which has its own tokens`, `leave ${name} out`);
  }
  const run = await readRecording(path, options.signal);
  if (run.tokenizerDigest !== tokenizerDigest(tokenFacts)) {
    throw invalidInput(
      `${path} was recorded from ${run.facts.model}, which has other tokens than ${options.model}`,
      "compare models with the same tokenizer",
    );
  }
  return run;
}

/** Throws INPUT_INVALID if a recording is of neither the tested model nor the one that `againstModel` names. */
async function requireModel(
  runtime: Runtime,
  { facts }: LogitsRun,
  tested: LoadedLanguage,
  { againstModel, againstVariant, signal }: CrossValidationOptions,
): Promise<void> {
  if (facts.recording === undefined || facts.digest === tested.facts.digest) return;
  const digests = againstModel === undefined ? [] : await variantDigests(runtime, againstModel, againstVariant, signal);
  if (digests.includes(facts.digest)) return;
  const asked = againstModel === undefined ? tested.facts.digest : digests.join(" or ");
  const name = againstModel ?? tested.facts.model;
  throw invalidInput(
    `${facts.recording} was recorded from other weights: ${facts.model} (${facts.digest}), and ${name} is ${asked}`,
    `record it again, or name the model that was recorded: ${quoteOption("againstModel")}`,
  );
}

async function variantDigests(
  runtime: Runtime,
  model: string,
  variant: string | undefined,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  const { variants } = await runtime.manifest(model, omitUndefined({ variant, signal }));
  const { computeDigest } = await import("../models/digest.ts");
  return Promise.all(variants.map(async (each) => `sha256:${await computeDigest(each)}`));
}

/** Runs a model, which chooses the tokens after the prompt unless a continuation is given. */
async function computeRun(
  runtime: Runtime,
  placement: LanguagePlacement,
  tokenFacts: TokenFacts,
  { prompt = defaultPrompt, tokens = defaultTokens, continuation }: ReadOptions,
): Promise<LogitsRun> {
  const { signal } = placement;
  return withLanguage(runtime, placement, async ({ model, facts }) => {
    const read = promptTokens(tokenFacts, prompt, model.limits);
    const given = continuation === undefined ? undefined : continuationTokens(tokenFacts, continuation);
    const name = `${placement.model} on ${facts.target}`;
    requireRoom(model, read.tokens.length + (given?.length ?? Math.max(0, tokens - 1)), name);
    requireKept(model, read.tokens.length + (given?.length ?? tokens), name);
    const logits: Float32Array[] = [];
    const all: number[] = [];
    let fed = 0;
    const next = (row: Float32Array): number | undefined => {
      if (given !== undefined) return given[fed++];
      fed += 1;
      const { token } = topToken(row);
      return fed >= tokens || tokenFacts.config.endTokens.includes(token) ? undefined : token;
    };
    const keep = (row: Float32Array, _position: number, token: number): void => {
      logits.push(row.slice());
      all.push(token);
    };
    await feedTokens(model, read, next, keep, { name, signal });
    const speed = await measureSpeed(model, read, all.slice(read.tokens.length), signal);
    const chosenBy = given === undefined && tokens > 0 ? "reference" : "caller";
    return { facts, speed, prompt: read, tokens: all, logits, chosenBy, tokenizerDigest: tokenizerDigest(tokenFacts) };
  });
}

/** Throws INPUT_TOO_LONG if the logits of all positions exceed what is kept. */
function requireKept({ limits }: Pick<TestedModel, "limits">, positions: number, name: string): void {
  const bytes = positions * limits.vocabulary * Float32Array.BYTES_PER_ELEMENT;
  if (bytes <= maxLogitsBytes) return;
  const possible = Math.floor(maxLogitsBytes / (limits.vocabulary * Float32Array.BYTES_PER_ELEMENT));
  throw new InferyardError(
    "INPUT_TOO_LONG",
    `the logits of ${positions} positions of ${name} need ${bytes} bytes, and ${maxLogitsBytes} are kept`,
    { remedy: `compare at most ${possible} tokens, those of the prompt included` },
  );
}

/** The tokens that the reference chose after the prompt: after each but the first, the next one was read. */
function chosenTokens({ prompt, logits, chosenBy }: Pick<LogitsRun, "prompt" | "logits" | "chosenBy">): readonly number[] | null {
  if (chosenBy === "caller") return null;
  return logits.slice(prompt.tokens.length - 1).map((row) => topToken(row).token);
}

/** The tokens that the tested model chooses by itself. If both runs chose the same tokens, they come from the reference. */
async function ownTokens(
  model: TestedModel,
  reference: LogitsRun,
  { config }: TokenFacts,
  positions: readonly PositionComparison[],
  signal: AbortSignal | undefined,
): Promise<readonly number[] | null> {
  const chosen = chosenTokens(reference);
  if (chosen === null) return null;
  const { prompt } = reference;
  if (positions.slice(prompt.tokens.length - 1).every(({ agrees }) => agrees)) return chosen;
  return greedyTokens(model, prompt, { maxTokens: chosen.length, endTokens: config.endTokens, signal });
}

function languageFacts(
  { facts, speed }: Pick<LogitsRun, "facts" | "speed">,
  { tokenizer }: TokenFacts,
  chosen: readonly number[] | null,
): ComparedLanguageRun {
  const text = chosen === null || tokenizer === undefined ? null : tokenizer.decode(chosen, keepSpecial);
  return { ...facts, speed, greedyTokens: chosen, text };
}

function getName({ facts }: LogitsRun): string {
  return facts.recording ?? `${facts.model} on ${facts.target}`;
}
