/** Computes tokens of one sequence in llama.cpp. */
import { throwIfAborted } from "../../contract/errors.ts";
import type { EvaluatedToken, LlamaSequence, WantedNext } from "./library.ts";

/** Tokens that are computed before the signal is looked at. */
const chunkTokens = 512;

/** Which logits are read: of how many last positions, and how many of each. Default: all of each. */
export interface WantedLogits {
  readonly count: number;
  readonly candidates?: number | undefined;
}

/** Appends tokens to a sequence, and returns the logits of the last `count` of them, row by row. `onCall` is called after each call of llama.cpp. */
export async function evaluate(
  sequence: LlamaSequence,
  tokens: readonly number[],
  { count, candidates }: WantedLogits,
  vocabulary: number,
  signal: AbortSignal | undefined,
  onCall: () => void = () => {},
): Promise<Float32Array> {
  const rows = new Float32Array(count * vocabulary).fill(Number.NEGATIVE_INFINITY);
  const first = tokens.length - count;
  const generateNext = wantedNext(candidates);
  for (let start = 0; start < tokens.length; start += chunkTokens) {
    throwIfAborted(signal);
    const chunk = tokens.slice(start, start + chunkTokens);
    const asked = chunk.map((token, index): EvaluatedToken => {
      return start + index < first ? token : [token, { generateNext }];
    });
    const results = await sequence.controlledEvaluate(asked);
    onCall();
    for (const [index, result] of results.entries()) {
      const row = start + index - first;
      if (row < 0) continue;
      for (const [token, logit] of result?.next.logits ?? []) rows[row * vocabulary + token] = logit;
    }
  }
  throwIfAborted(signal);
  return rows;
}

function wantedNext(candidates: number | undefined): WantedNext {
  if (candidates === undefined) return { logits: true };
  if (candidates === 1) return { logits: { filter: { includeSelected: true } }, options: { temperature: 0 } };
  return { logits: { filter: { includeTop: candidates } } };
}
