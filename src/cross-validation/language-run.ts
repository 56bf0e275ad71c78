/** Runs a language model on given token ids, and measures it. */
import type { LanguageModel, SequenceId } from "../contract/backend.ts";
import { at, omitUndefined } from "../contract/checked.ts";
import { InferyardError } from "../contract/errors.ts";
import { requireFinite, topToken } from "./compare-logits.ts";

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
  await withSequence(model, prompt, signal, async (sequence) => {
    let position = 0;
    const append = async (tokens: readonly number[]): Promise<Float32Array> => {
      const rows = await decodeAll(model, sequence, tokens, signal);
      for (const [index, token] of tokens.entries()) {
        const row = rows.subarray(index * vocabulary, (index + 1) * vocabulary);
        requireFinite(row, position, name);
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

/** The tokens that a model chooses by itself: the most likely one each time, until an end token, which is the last. */
export async function greedyTokens(
  model: TestedModel,
  prompt: PromptTokens,
  stop: { readonly maxTokens: number; readonly endTokens: readonly number[] },
  signal?: AbortSignal,
): Promise<readonly number[]> {
  const chosen: number[] = [];
  if (stop.maxTokens === 0) return chosen;
  await withSequence(model, prompt, signal, async (sequence) => {
    let tokens = prompt.tokens;
    for (;;) {
      const [logits] = await model.decode([{ sequence, tokens }], omitUndefined({ signal }));
      const { token } = topToken(logits ?? new Float32Array());
      chosen.push(token);
      if (chosen.length >= stop.maxTokens || stop.endTokens.includes(token)) return;
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
  const options = omitUndefined({ signal });
  const read = (sequence: SequenceId, tokens: readonly number[]): Promise<unknown> =>
    model.decode([{ sequence, tokens, candidates: 1 }], options);
  await withSequence(model, prompt, signal, async (sequence) => {
    await read(sequence, prompt.tokens);
    const [first] = followers;
    if (first !== undefined) await read(sequence, [first]);
  });
  return withSequence(model, prompt, signal, async (sequence) => {
    const started = performance.now();
    await read(sequence, prompt.tokens);
    const prefilled = performance.now();
    for (const token of followers) await read(sequence, [token]);
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

async function decodeAll(
  model: TestedModel,
  sequence: SequenceId,
  tokens: readonly number[],
  signal: AbortSignal | undefined,
): Promise<Float32Array> {
  return at(await model.decode([{ sequence, tokens, logits: tokens.length }], omitUndefined({ signal })), 0);
}

async function withSequence<Result>(
  model: TestedModel,
  { source }: PromptTokens,
  signal: AbortSignal | undefined,
  work: (sequence: SequenceId) => Promise<Result>,
): Promise<Result> {
  const sequence = await model.createSequence(omitUndefined({ source, signal }));
  try {
    return await work(sequence);
  } finally {
    await model.releaseSequence(sequence);
  }
}
