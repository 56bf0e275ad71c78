/** Runs a language model on given token ids, and measures it. */
import type { DecodeStep, LanguageModel, SequenceId } from "../contract/language-model.ts";
import { at, omitUndefined } from "../contract/checked.ts";
import { InferyardError } from "../contract/errors.ts";
import { requireFiniteLogits, topToken } from "./compare-logits.ts";

/** The part of a language model that is run. */
export type TestedModel = Pick<LanguageModel, "limits" | "createSequence" | "decode" | "releaseSequence">;

/** Token ids that a model reads first. */
export interface PromptTokens {
  /** Tokens of the decoder, at least one. */
  readonly tokens: readonly number[];
  /** Tokens that the encoder reads, for models with an encoder. */
  readonly source?: readonly number[];
}

/** Tokens per second of a run; null if nothing was measured. */
export interface TokensPerSecond {
  /** Speed of reading the prompt in one call. */
  readonly prefill: number | null;
  /** Speed of the tokens after the prompt, one in each call. */
  readonly decode: number | null;
}

/** Options of a run. */
export interface LanguageRunOptions {
  /** Name of the run in messages, for example "native:cpu". */
  readonly name: string;
  readonly signal?: AbortSignal | undefined;
}

/** Bytes of logits of one call: longer prompts are read in several. */
const maxBytesOfCall = 64 * 1024 * 1024;

/**
 * Decodes a prompt and then one token after the other, and passes the logits after each token to the caller. `next` chooses the token that follows the logits
 * of the last position: undefined ends the run. Throws VERIFICATION_FAILED for logits that are not finite.
 */
export async function feedTokens(
  model: TestedModel,
  prompt: PromptTokens,
  next: (logits: Float32Array) => number | undefined,
  onLogits: (logits: Float32Array, position: number, token: number) => void,
  { name, signal }: LanguageRunOptions,
): Promise<void> {
  const { vocabulary } = model.limits;
  const chunk = Math.max(1, Math.floor(maxBytesOfCall / (vocabulary * Float32Array.BYTES_PER_ELEMENT)));
  await withSequences(model, [prompt], signal, async ([sequence = 0], decode) => {
    let position = 0;
    const append = async (tokens: readonly number[]): Promise<Float32Array> => {
      const rows = at(await decode([{ sequence, tokens, logits: tokens.length }]), 0);
      for (const [index, token] of tokens.entries()) {
        const row = rows.subarray(index * vocabulary, (index + 1) * vocabulary);
        requireFiniteLogits(row, position, name);
        onLogits(row, position, token);
        position += 1;
      }
      return rows.subarray((tokens.length - 1) * vocabulary);
    };
    let last: Float32Array = new Float32Array();
    for (let start = 0; start < prompt.tokens.length; start += chunk)
      last = await append(prompt.tokens.slice(start, start + chunk));
    for (let token = next(last); token !== undefined; token = next(last)) last = await append([token]);
  });
}

/** When a run ends that chooses its own tokens. */
export interface LanguageRunLimits {
  readonly maxTokens: number;
  readonly endTokens: readonly number[];
  readonly signal?: AbortSignal | undefined;
}

/** How tokens are chosen. */
export interface TokenChoice {
  /** Number of the highest logits that the engine gives. Default: it gives all. */
  readonly candidates?: number;
  /** Chooses the token at an index of the result from the logits before it. Default: the most likely one. */
  readonly choose?: (logits: Float32Array, index: number) => number;
}

/** The tokens that a model chooses by itself, until an end token, which is the last. */
export async function greedyTokens(
  model: TestedModel,
  prompt: PromptTokens,
  { maxTokens, endTokens, signal }: LanguageRunLimits,
  { candidates, choose = (logits) => topToken(logits).token }: TokenChoice = {},
): Promise<readonly number[]> {
  const chosen: number[] = [];
  await withSequences(model, [prompt], signal, async ([sequence = 0], decode) => {
    let { tokens } = prompt;
    while (chosen.length < maxTokens) {
      const token = choose(at(await decode([{ sequence, tokens, ...omitUndefined({ candidates }) }]), 0), chosen.length);
      chosen.push(token);
      if (endTokens.includes(token)) return;
      tokens = [token];
    }
  });
  return chosen;
}

/**
 * Reads a prompt, then the given tokens one by one, as greedy decoding does, and measures both. The prompt is read once before without a measurement, so that
 * preparations of the engine for its length are excluded.
 */
export async function measureSpeed(
  model: TestedModel,
  prompt: PromptTokens,
  followers: readonly number[],
  signal?: AbortSignal,
): Promise<TokensPerSecond> {
  const read = (decode: Decode, sequence: SequenceId, tokens: readonly number[]): Promise<unknown> =>
    decode([{ sequence, tokens, candidates: 1 }]);
  await withSequences(model, [prompt], signal, async ([sequence = 0], decode) => {
    await read(decode, sequence, prompt.tokens);
    const [first] = followers;
    if (first !== undefined) await read(decode, sequence, [first]);
  });
  return withSequences(model, [prompt], signal, async ([sequence = 0], decode) => {
    const started = performance.now();
    await read(decode, sequence, prompt.tokens);
    const prefilled = performance.now();
    for (const token of followers) await read(decode, sequence, [token]);
    const ended = performance.now();
    return {
      prefill: perSecond(prompt.tokens.length, prefilled - started),
      decode: perSecond(followers.length, ended - prefilled),
    };
  });
}

/** Throws INPUT_TOO_LONG if the tokens exceed the model's context. */
export function requireRoom({ limits }: Pick<TestedModel, "limits">, tokens: number, name: string): void {
  const { contextLength = Number.POSITIVE_INFINITY } = limits;
  if (tokens <= contextLength) return;
  throw new InferyardError(
    "INPUT_TOO_LONG",
    `${tokens} tokens are to be compared, and the context of ${name} is ${contextLength}`,
    {
      remedy: "shorten the prompt, or compare fewer tokens",
    },
  );
}

function perSecond(tokens: number, milliseconds: number): number | null {
  return tokens === 0 || milliseconds <= 0 ? null : (tokens * 1000) / milliseconds;
}

/** Decodes steps of sequences with the signal of the run. */
export type Decode = (steps: readonly DecodeStep[]) => Promise<readonly Float32Array[]>;

/** Runs `work` with a sequence for each prompt, and releases them. */
export async function withSequences<Result>(
  model: Omit<TestedModel, "limits">,
  prompts: readonly Pick<PromptTokens, "source">[],
  signal: AbortSignal | undefined,
  work: (sequences: readonly SequenceId[], decode: Decode) => Promise<Result>,
): Promise<Result> {
  const options = omitUndefined({ signal });
  const sequences: SequenceId[] = [];
  try {
    for (const { source } of prompts) sequences.push(await model.createSequence({ ...options, ...omitUndefined({ source }) }));
    return await work(sequences, (steps) => model.decode(steps, options));
  } finally {
    await Promise.all(sequences.map((sequence) => model.releaseSequence(sequence)));
  }
}
