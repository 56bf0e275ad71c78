/** Records of calls. */
import { omitUndefined } from "../../contract/checked.ts";
import type { InferyardError } from "../../contract/errors.ts";
import type { GeneratedText } from "../../tasks/generation/generated-text.ts";
import type { Decision } from "../../runtime/decision/decision.ts";

/**
 * Where a result that the call did not compute came from: "shared", from a concurrent call with the same key; "cached", from the result cache.
 */
export type Reuse = "shared" | "cached";

/** A text that a model wrote. */
export type WrittenText = Pick<GeneratedText, "tokens" | "promptTokens" | "cachedTokens" | "timings"> & {
  readonly finishReason: string;
};

/** Record of a call that has ended, for metrics, logs and traces. */
export interface CallRecord {
  /** The name the client wrote. */
  readonly model: string;
  /** Target that ran it; left out where no model ran. */
  readonly target?: string;
  /** Id of the decision that placed the model, or that found no target for it; left out where none was made for this call. */
  readonly decision?: string;
  /** Time the call waited for its turn, in milliseconds. */
  readonly queueMs: number;
  /** Time from its turn to its result in milliseconds, loading included. */
  readonly inferenceMs: number;
  /** The part of `inferenceMs` in which the model was loaded for this call; left out where it was in memory. */
  readonly loadMs?: number;
  /** Tokens the model read, where the task counts them; left out where another call did the work. */
  readonly tokens?: number;
  /** Texts that the model wrote, for calls of language models. */
  readonly texts?: readonly WrittenText[];
  /** How the result was obtained, if this call did not compute it. */
  readonly reuse?: Reuse;
  /** Error of a call that failed. */
  readonly error?: InferyardError;
  /** Name of the operation, where the call has a key. */
  readonly operation?: string;
  /** When the call ended, by `performance.now()`. */
  readonly endedAt: number;
}

/**
 * Waiting and running time of a call that ends now. `started`: when it arrived, `begun`: when its work began, undefined if it never did; both by
 * `performance.now()`.
 */
export function callTimes(
  started: number,
  begun: number | undefined,
): { readonly queueMs: number; readonly inferenceMs: number } {
  const now = performance.now();
  return { queueMs: (begun ?? now) - started, inferenceMs: now - (begun ?? now) };
}

/** The fields `target` and `decision` of a record, left out where no model ran. */
export function getPlacement({
  target,
  decision,
}: {
  readonly target?: string | undefined;
  readonly decision?: Pick<Decision, "id"> | undefined;
}): Pick<CallRecord, "target" | "decision"> {
  return {
    ...omitUndefined({ target }),
    ...(decision === undefined ? {} : { decision: decision.id }),
  };
}

/** The decision that an error of `noCandidateError` holds. Undefined for other errors. */
export function decisionOfError({ data }: InferyardError): Pick<Decision, "id"> | undefined {
  return data["decision"] as Decision | undefined;
}

/** The field `tokens` of a record: the sum of the tokens of all texts, for results that count them per text. */
export function getTokens(result: unknown): { readonly tokens?: number } {
  if (typeof result !== "object" || result === null || !("tokens" in result) || !Array.isArray(result.tokens)) return {};
  const counts = result.tokens.filter((count) => typeof count === "number");
  return { tokens: counts.reduce((sum, count) => sum + count, 0) };
}

/** The field `texts` of a record: the results of calls that generate text. */
export function getTexts(result: unknown): { readonly texts?: readonly WrittenText[]; readonly tokens?: number } {
  if (typeof result !== "object" || result === null || !("results" in result) || !Array.isArray(result.results)) return {};
  const texts = (result.results as readonly object[]).filter((each): each is WrittenText => "timings" in each);
  if (texts.length === 0) return {};
  return { texts, tokens: texts.reduce((sum, { tokens, promptTokens }) => sum + promptTokens + tokens.length, 0) };
}

/** Whether the model was loaded for this decision after `time` (milliseconds of `Date.now()`), and not in memory before. */
export function wasLoadedSince(time: number, { at, candidates }: Decision): boolean {
  const isLoad = candidates.some(({ verdict, milliseconds }) => verdict === "selected" && milliseconds !== undefined);
  return isLoad && Date.parse(at) >= time;
}
