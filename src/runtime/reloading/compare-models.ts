/** Compares two instances of a language model: each continues the same prompts, and their logits are compared at every position. */
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import type { HostedLanguageModel } from "../../hosts/host.ts";
import { probeTokens } from "../loading/sequence-agreement.ts";
import type { ModelComparison } from "./reload-report.ts";

/** Tokens by which each prompt is continued. */
const continuationTokens = 12;
const promptLengths: readonly number[] = [2, 7, 24];

type ComparedModel = Pick<HostedLanguageModel, "createSequence" | "decode" | "releaseSequence" | "limits">;

/** Prompts of made-up tokens of the model's vocabulary, the same each time; shorter where the context is. */
export function comparisonPrompts({
  vocabulary,
  contextLength = Number.POSITIVE_INFINITY,
}: ComparedModel["limits"]): readonly (readonly number[])[] {
  const longest = Math.max(1, contextLength - continuationTokens);
  return promptLengths.map((length, index) => probeTokens(vocabulary, index + 1, Math.min(length, longest)));
}

/**
 * Continues prompts greedily with the old instance, and gives the new one the same tokens. Throws VERIFICATION_FAILED if a logit differs by more than `tolerance`
 * times the range of the old logits, or another token has the highest one although the two highest are further apart than that.
 */
export async function compareModels(
  old: ComparedModel,
  fresh: ComparedModel,
  { tolerance, signal }: { readonly tolerance: number; readonly signal?: AbortSignal | undefined },
): Promise<ModelComparison> {
  if (old.limits.vocabulary !== fresh.limits.vocabulary) {
    throw wrong(
      `it reads a vocabulary of ${fresh.limits.vocabulary} tokens, and the old library one of ${old.limits.vocabulary}`,
    );
  }
  const prompts = comparisonPrompts(old.limits);
  const { contextLength = Number.POSITIVE_INFINITY } = old.limits;
  let [positions, ties, maxDifference] = [0, 0, 0];
  for (const [number, prompt] of prompts.entries()) {
    const options = signal === undefined ? {} : { signal };
    const sequences = [await old.createSequence(options), await fresh.createSequence(options)] as const;
    try {
      let tokens = prompt;
      const steps = Math.min(continuationTokens, contextLength - prompt.length);
      for (let step = 0; step < steps; step += 1) {
        throwIfAborted(signal);
        const [expected = new Float32Array()] = await old.decode([{ sequence: sequences[0], tokens }], options);
        const [actual = new Float32Array()] = await fresh.decode([{ sequence: sequences[1], tokens }], options);
        const position = comparePosition(expected, actual, tolerance);
        if (position.problem !== undefined)
          throw wrong(`${position.problem} (token ${step + 1} after prompt ${number + 1} of ${prompts.length})`);
        positions += 1;
        ties += position.isTie ? 1 : 0;
        maxDifference = Math.max(maxDifference, position.difference);
        tokens = [position.token];
      }
    } finally {
      await Promise.all([old.releaseSequence(sequences[0]), fresh.releaseSequence(sequences[1])]);
    }
  }
  return { prompts: prompts.length, positions, ties, maxDifference, tolerance };
}

interface PositionComparison {
  /** The token with the highest logit of the old instance. */
  readonly token: number;
  readonly difference: number;
  readonly isTie: boolean;
  readonly problem?: string;
}

function comparePosition(expected: Float32Array, actual: Float32Array, tolerance: number): PositionComparison {
  let [min, max, token, difference] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0];
  let [best, chosen] = [Number.NEGATIVE_INFINITY, 0];
  for (const [id, logit] of expected.entries()) {
    const other = actual[id] ?? Number.NaN;
    if (logit > max) [max, token] = [logit, id];
    if (logit < min) min = logit;
    if (other > best) [best, chosen] = [other, id];
    const each = Math.abs(other - logit);
    if (each > difference || Number.isNaN(each)) difference = each; // nothing is above NaN
  }
  const range = max - min || 1;
  const relative = difference / range;
  const isTie = chosen !== token;
  const found = { token, difference: relative, isTie };
  if (!(relative <= tolerance)) {
    return {
      ...found,
      problem: `a logit differs by ${format(relative)} of the range of the logits, and ${format(tolerance)} is permitted`,
    };
  }
  const margin = (max - (expected[chosen] ?? Number.NaN)) / range;
  if (isTie && !(margin <= 2 * tolerance)) {
    return { ...found, problem: `token ${chosen} has the highest logit, and with the old library token ${token}` };
  }
  return found;
}

const format = (part: number): string => (Number.isFinite(part) ? `${(100 * part).toPrecision(2)} %` : "no finite number");

function wrong(reason: string): InferyardError {
  return new InferyardError("VERIFICATION_FAILED", `the new library answers otherwise than the old one: ${reason}`, {
    remedy: "compare both with another engine; if the new library is right, start a new runtime with it",
  });
}
