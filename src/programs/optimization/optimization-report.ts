/** What a search tells. */
import type { ChosenSettings, RewriteStep } from "./candidate.ts";
import type { BackendPeaks } from "./roofline.ts";

/** A candidate that was tried. */
export interface TriedCandidate {
  /** What was changed against the candidate before it: the name of a rule, or a setting such as "threads 1". */
  readonly change: string;
  /** The value at which the rule was applied; undefined: wherever it matches. */
  readonly site?: string | undefined;
  /** Number of rewrites before this one. */
  readonly depth: number;
  /**
   * "faster": it became the best one. "slower": it is not faster than the best one by more than the noise. "unproved": the test over finite fields does not show
   * that the results are the same. "bounded": it cannot be faster, since its products and bytes take longer at the peaks of the backend. "wrong": its results differ from the interpreter's, or it was not compiled. "not-timed": the budget ended.
   */
  readonly verdict: "faster" | "slower" | "unproved" | "bounded" | "wrong" | "not-timed";
  /** Median milliseconds of a run, if it was timed. */
  readonly milliseconds?: number | undefined;
  /** Time of the best candidate before it divided by its own, of runs by turns, if it was timed. */
  readonly speedup?: number | undefined;
  /** Why it was discarded: a sentence without a full stop. */
  readonly reason?: string | undefined;
}

/** The record of one search, as plain data. Times are medians in milliseconds, with inputs copied to the device and outputs back. */
export interface OptimizationReport {
  /** The backend as it was asked for, and where it computes. */
  readonly backend: string;
  readonly target: string;
  /** Sizes of the free dimensions. */
  readonly sizes: Readonly<Record<string, number>>;
  /** "search": found now. "kept": found by an earlier search on this machine, applied and checked again. "none": the budget is zero. */
  readonly from: "search" | "kept" | "none";
  /** Rewrites of the result, in order; empty if nothing is faster. */
  readonly steps: readonly RewriteStep[];
  /** Settings of the result. */
  readonly settings: ChosenSettings;
  readonly originalMs?: number | undefined;
  readonly milliseconds?: number | undefined;
  /** Time of the original divided by the time of the result, of runs by turns. 1 if nothing is faster. */
  readonly speedup: number;
  readonly roofline?: RooflineShare | undefined;
  readonly tried: readonly TriedCandidate[];
  /** Why the search ended: nothing is left to try, nor anything above 95 % of the roofline ("roofline"), or the budget ended. */
  readonly ended: "exhausted" | "budget" | "roofline" | "kept" | "none";
  /** Milliseconds that the search took. */
  readonly searchMs: number;
  /** Sentences without a full stop. */
  readonly notes: readonly string[];
}

/** How far the result is from what the backend reaches at best. */
export interface RooflineShare extends BackendPeaks {
  /** Milliseconds that the products and the memory traffic of the result take at least. */
  readonly milliseconds: number;
  /** Share of it that the result reaches; 1 is the roofline. May exceed 1 where all weights stay in the caches. */
  readonly share: number;
}
