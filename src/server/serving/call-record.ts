/** Parts of the record of a call. */
import type { Decision } from "../../runtime/decision/decision.ts";

/** Until now. What never had its turn has only waited. */
export function callTimes(
  started: number,
  begun: number | undefined,
): { readonly queueMs: number; readonly inferenceMs: number } {
  const now = performance.now();
  return { queueMs: (begun ?? now) - started, inferenceMs: now - (begun ?? now) };
}

export function targetOf(target: string | undefined): { readonly target?: string } {
  return target === undefined ? {} : { target };
}

/** Tasks that count tokens do so for each text. */
export function tokensOf(result: unknown): { readonly tokens?: number } {
  if (typeof result !== "object" || result === null || !("tokens" in result) || !Array.isArray(result.tokens)) return {};
  const counts = result.tokens.filter((count) => typeof count === "number");
  return { tokens: counts.reduce((sum, count) => sum + count, 0) };
}

/** Whether the model was loaded for this decision, and not in memory before; `time`: by `Date.now()`. */
export function wasLoadedSince(time: number, { at, candidates }: Decision): boolean {
  const isLoad = candidates.some(({ verdict, milliseconds }) => verdict === "selected" && milliseconds !== undefined);
  return isLoad && Date.parse(at) >= time;
}
