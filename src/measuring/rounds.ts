/** Runs measuring rounds: each subject in its own process, one after the other, in an order that rotates from round to round. */
import { InferyardError, throwIfAborted } from "../contract/errors.ts";
import type { Figures } from "../speed-records/index.ts";
import { runReportingChild } from "../platform/node/report-child.ts";
import type { Round, RoundRequest } from "./measure-round.ts";
import { reportFailure } from "./on-targets.ts";
import { median } from "../platform/statistics.ts";
import type { TargetReport } from "./target-report.ts";

/** A subject to measure, and its name in progress reports. */
export interface RoundSubject {
  readonly name: string;
  readonly request: RoundRequest;
}

/** The progress of a benchmark. */
export interface RoundProgress {
  /** Name of the subject that is measured now. */
  readonly name: string;
  /** Number of this round, from 1, and total number of rounds. */
  readonly round: number;
  readonly rounds: number;
}

/** Options for running rounds. */
export interface RoundOptions {
  readonly rounds: number;
  readonly onRound?: ((progress: RoundProgress) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Outcome for one subject: its rounds, or the report of why it could not be measured. */
export type RoundsOutcome =
  | { readonly rounds: readonly Round[]; readonly failure?: never }
  | { readonly rounds?: never; readonly failure: TargetReport<never> };

/**
 * Measures all subjects round by round. Subjects alternate, so that a busy moment of the machine affects a round and not a subject; each runs in
 * its own process, so that its memory can be measured separately. A failed subject is not retried. Outcomes are in the order of the subjects.
 */
export async function runRounds(
  subjects: readonly RoundSubject[],
  { rounds, onRound, signal }: RoundOptions,
): Promise<readonly RoundsOutcome[]> {
  const results = subjects.map((): Round[] => []);
  const failures = new Map<number, TargetReport<never>>();
  for (let round = 0; round < rounds; round += 1) {
    for (let turn = 0; turn < subjects.length; turn += 1) {
      const index = (turn + round) % subjects.length;
      const subject = subjects[index];
      if (subject === undefined || failures.has(index)) continue;
      throwIfAborted(signal);
      onRound?.({ name: subject.name, round: round + 1, rounds });
      try {
        results[index]?.push(await roundInProcess(subject.request, signal));
      } catch (error) {
        failures.set(index, reportFailure(subject.request.target, error));
      }
    }
  }
  return results.map((measured, index) => {
    const failure = failures.get(index);
    return failure === undefined ? { rounds: measured } : { failure };
  });
}

async function roundInProcess(request: RoundRequest, signal: AbortSignal | undefined): Promise<Round> {
  const program = new URL("./round-child.ts", import.meta.url);
  const run = await runReportingChild<Round>(program, request, { signal, limitMs: Number.POSITIVE_INFINITY });
  throwIfAborted(signal);
  if (run.ok) return run.value;
  const { error } = run;
  if (error.code !== "HOST_DIED") throw error;
  throw new InferyardError("HOST_DIED", `measuring ${request.model} on ${request.target} failed: ${error.message}`);
}

/** The medians of the measured values over all rounds. `rounds`: at least one. */
export function getFigures(rounds: readonly Round[]): Figures {
  const all = (name: "loadMs" | "latencyMs" | "perSecond" | "memoryBytes" | "tokensPerSecond"): number[] =>
    rounds.map((round) => round[name]);
  const rate = (name: "promptTokensPerSecond" | "decodeTokensPerSecond"): Partial<Figures> => {
    const values = rounds.flatMap((round) => round[name] ?? []);
    return values.length === 0 ? {} : { [name]: median(values) };
  };
  const tokensPerSecond = median(all("tokensPerSecond"));
  return {
    rounds: rounds.length,
    unit: rounds[0]?.unit ?? "texts",
    loadMs: median(all("loadMs")),
    latencyMs: median(all("latencyMs")),
    latencyRangeMs: [Math.min(...all("latencyMs")), Math.max(...all("latencyMs"))],
    perSecond: median(all("perSecond")),
    ...(tokensPerSecond === 0 ? {} : { tokensPerSecond }),
    ...rate("promptTokensPerSecond"),
    ...rate("decodeTokensPerSecond"),
    memoryBytes: median(all("memoryBytes")),
  };
}
