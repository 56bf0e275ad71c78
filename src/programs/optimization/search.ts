/**
 * The search: cost-based backtracking as in TASO (Jia et al., SOSP 2019), with measured times for costs. The fastest candidate that was not expanded is expanded next;
 * candidates that are slower than the best one by a factor of `relaxation` are not.
 */
import { getMessage, InferyardError } from "../../contract/errors.ts";
import { availableParallelism, freemem } from "node:os";
import { LruMap } from "../../concurrency/lru-map.ts";
import type { Literal } from "../../engine/ir/literal.ts";
import type { OnnxModel } from "../../engine/onnx/onnx-model.ts";
import { SessionFailure } from "../compilation/program-session.ts";
import { applyRule, type Proofs } from "./apply-rule.ts";
import { type ProgramCandidate, describeGraph, modelWeightBytes, withComputedConstants, workOf } from "./candidate.ts";
import type { TriedCandidate } from "./optimization-report.ts";
import type { RewriteRule } from "./rewrite-rule.ts";
import { type BackendPeaks, raisedPeaks, rooflineMs } from "./roofline.ts";
import { type ComparedTimes, compareTimes, TimedCandidate, type TrialSettings } from "./timed-candidate.ts";

/** Slowdown against the best candidate up to which a candidate is expanded: a rewrite may pay after another one only. */
const relaxation = 1.1;
/** Speedup from which on a candidate replaces the best one: below it times differ by chance. */
const minSpeedup = 1.03;
/** Factor by which measured peaks may be too low, so that a candidate with a roofline below this many times the best time is still timed. */
const peakError = 1.1;
/** Share of the roofline from which on a search says that it ended there. */
const closeToRoofline = 0.95;
/** Number of places of a rule up to which each is tried alone, too; of more, one alone hardly shows. */
const maxSites = 4;
/** Computed constants that are kept for later candidates. */
const maxConstants = 256;
/** Copies of the weights that a candidate needs while it is compiled: its literals, and the layout of its kernels. */
const copiesOfWeights = 2;

/** A candidate with its time. */
interface Measured {
  readonly candidate: ProgramCandidate;
  readonly milliseconds: number;
}

/** A change of a candidate: a rule at one place or all, or a setting. */
interface Move {
  readonly change: string;
  readonly site: string | undefined;
  readonly rule: RewriteRule | undefined;
  readonly settings: ProgramCandidate["settings"];
}

/** Result of a search. */
export interface ProgramSearchResult {
  readonly best: ProgramCandidate;
  readonly tried: readonly TriedCandidate[];
  readonly ended: "exhausted" | "budget" | "roofline";
  /** Median milliseconds of a run of the original; undefined if the budget ended before. */
  readonly originalMs: number | undefined;
  /** Where it computes, such as "native". */
  readonly target: string;
  /** The peaks of the backend, as far as the search saw. */
  readonly peaks: BackendPeaks;
}

/** One search. */
export class ProgramSearch {
  readonly #trial: TrialSettings;
  readonly #rules: readonly RewriteRule[];
  #peaks: BackendPeaks;
  readonly #proofs: Proofs = new Map();
  readonly #constants = new LruMap<Literal>(maxConstants);
  readonly #tried: TriedCandidate[] = [];
  readonly #seen = new Set<string>();
  /** Rewrites that were discarded, by rule and place: they are not tried again on other candidates. */
  readonly #discarded = new Set<string>();

  /** `trial.signal` aborts when the budget ends, too. */
  constructor(trial: TrialSettings, rules: readonly RewriteRule[], peaks: BackendPeaks) {
    this.#trial = trial;
    this.#rules = rules;
    this.#peaks = peaks;
  }

  /** The model of a candidate with its constants computed. */
  async model({ graph }: ProgramCandidate): Promise<OnnxModel> {
    return await withComputedConstants(graph, this.#constants, this.#trial.signal);
  }

  /** Applies steps that an earlier search found. Undefined if one does not apply or is not proved. */
  replay(
    original: ProgramCandidate,
    steps: ProgramCandidate["steps"],
    settings: ProgramCandidate["settings"],
  ): ProgramCandidate | undefined {
    let { graph } = original;
    for (const { rule: name, site } of steps) {
      const rule = this.#rules.find((each) => each.name === name);
      const result = rule && applyRule(graph, rule, site, this.#proofs);
      if (result === undefined || "reason" in result) return undefined;
      graph = result.graph;
    }
    return { graph, steps, settings };
  }

  /** Searches until nothing is left, the best candidate is close to the roofline, or the signal aborts. Throws what the original throws. */
  async run(original: ProgramCandidate): Promise<ProgramSearchResult> {
    let best = original;
    let bestTimed = await TimedCandidate.open(await this.model(original), this.#trial, original.settings);
    const { target } = bestTimed;
    let bestMs = Number.POSITIVE_INFINITY;
    let originalMs: number | undefined;
    let ended: ProgramSearchResult["ended"] = "exhausted";
    try {
      this.#seen.add(keyOf(original));
      const first = await compareTimes(bestTimed, bestTimed, this.#trial.signal);
      originalMs = first.milliseconds;
      bestMs = originalMs;
      this.#peaks = raisedPeaks(this.#peaks, workOf(original.graph), bestMs);
      const open: Measured[] = [{ candidate: original, milliseconds: bestMs }];
      while (ended === "exhausted") {
        open.sort((one, other) => one.milliseconds - other.milliseconds);
        const next = open.shift();
        if (next === undefined || next.milliseconds > relaxation * bestMs) break;
        for (const move of this.#moves(next.candidate)) {
          if (this.#trial.signal.aborted) break;
          const candidate = this.#apply(next.candidate, move);
          if (candidate === undefined || this.#isBounded(candidate, move, bestMs)) continue;
          const timed = await this.#open(candidate, move);
          if (timed === undefined) continue;
          const times = await this.#compare(timed, bestTimed).catch(async (error: unknown) => {
            await timed.dispose();
            throw error;
          });
          const isFaster = times.speedup >= minSpeedup;
          this.#tell(candidate, move, {
            verdict: isFaster ? "faster" : "slower",
            milliseconds: times.milliseconds,
            speedup: times.speedup,
          });
          open.push({ candidate, milliseconds: bestMs / times.speedup });
          await (isFaster ? bestTimed : timed).dispose();
          if (!isFaster) continue;
          [best, bestTimed] = [candidate, timed];
          bestMs /= times.speedup;
          this.#peaks = raisedPeaks(this.#peaks, workOf(best.graph), bestMs);
        }
        if (this.#trial.signal.aborted) ended = "budget";
      }
      if (ended === "exhausted" && rooflineMs(this.#peaks, workOf(best.graph)) > closeToRoofline * bestMs) ended = "roofline";
    } catch (error) {
      if (!isAborted(error, this.#trial.signal)) throw error;
      ended = "budget";
    } finally {
      await bestTimed.dispose();
    }
    return { best, tried: this.#tried, ended, originalMs, target, peaks: this.#peaks };
  }

  /** The changes of a candidate: the rules in order, each everywhere, then at single places if there are few; then settings. */
  *#moves({ graph, settings }: ProgramCandidate): Generator<Move> {
    for (const rule of this.#rules) {
      const sites: string[] = [];
      for (const { site } of rule.matches(graph)) if (sites.length <= maxSites) sites.push(site);
      const places = sites.length > maxSites ? [undefined] : sites.length > 1 ? [undefined, ...sites] : sites;
      for (const site of places) yield { change: rule.name, site, rule, settings };
    }
    for (const threads of threadChoices(this.#trial))
      if (settings.threads === undefined)
        yield { change: `threads ${threads}`, site: undefined, rule: undefined, settings: { ...settings, threads } };
  }

  #apply(from: ProgramCandidate, { change, site, rule, settings }: Move): ProgramCandidate | undefined {
    const place = `${change} ${site ?? "everywhere"}`;
    if (rule === undefined) return this.#unlessSeen({ ...from, settings });
    if (this.#discarded.has(place)) return undefined;
    const result = applyRule(from.graph, rule, site, this.#proofs);
    if ("reason" in result) {
      this.#discarded.add(place);
      this.#tried.push({ change, site, depth: from.steps.length, verdict: "unproved", reason: result.reason });
      return undefined;
    }
    return this.#unlessSeen({
      graph: result.graph,
      steps: [...from.steps, { rule: rule.name, ...(site === undefined ? {} : { site }) }],
      settings,
    });
  }

  #unlessSeen(candidate: ProgramCandidate): ProgramCandidate | undefined {
    const key = keyOf(candidate);
    if (this.#seen.has(key)) return undefined;
    this.#seen.add(key);
    return candidate;
  }

  /** Times a candidate beside the best one; what looks faster is timed again, and the smaller speedup counts, since the fastest of many looks faster by chance. */
  async #compare(timed: TimedCandidate, best: TimedCandidate): Promise<ComparedTimes> {
    const { signal } = this.#trial;
    const first = await compareTimes(timed, best, signal);
    if (first.speedup < minSpeedup) return first;
    const second = await compareTimes(timed, best, signal);
    return second.speedup < first.speedup ? second : first;
  }

  /** Whether a candidate cannot be faster than the best one, since its products and its bytes take as long at the peaks of the backend; this is told. */
  #isBounded(candidate: ProgramCandidate, move: Move, bestMs: number): boolean {
    const bound = rooflineMs(this.#peaks, workOf(candidate.graph));
    if (bound < peakError * bestMs) return false;
    this.#tell(candidate, move, {
      verdict: "bounded",
      reason: `its roofline is ${bound.toFixed(3)} ms, and the best candidate takes ${bestMs.toFixed(3)} ms`,
    });
    return true;
  }

  /** The candidate on its device. Undefined if it is not compiled or computes wrong, which is told. */
  async #open(candidate: ProgramCandidate, move: Move): Promise<TimedCandidate | undefined> {
    try {
      const model = await this.model(candidate);
      const needed = copiesOfWeights * modelWeightBytes(model);
      const allowed = this.#trial.maxMemory ?? freemem();
      if (needed > allowed)
        throw new SessionFailure("requirement", new Error(`its weights need ${needed} bytes, and ${allowed} are free`));
      return await TimedCandidate.open(model, this.#trial, candidate.settings);
    } catch (error) {
      const isEnd = isAborted(error, this.#trial.signal);
      if (isEnd) this.#tell(candidate, move, { verdict: "not-timed", reason: "the budget ended" });
      if (isEnd || !(error instanceof SessionFailure || error instanceof InferyardError)) throw error;
      this.#discarded.add(`${move.change} ${move.site ?? "everywhere"}`);
      this.#tell(candidate, move, { verdict: "wrong", reason: getMessage(error) });
      return undefined;
    }
  }

  #tell({ steps }: ProgramCandidate, { change, site }: Move, result: Omit<TriedCandidate, "change" | "site" | "depth">): void {
    const depth = Math.max(0, steps.length - 1);
    this.#tried.push({ change, ...(site === undefined ? {} : { site }), depth, ...result });
  }
}

/** Numbers of threads that are tried: the engine splits kernel calls among them, which does not always pay. */
function threadChoices({ backend, mode }: TrialSettings): readonly number[] {
  const isSplit = mode === "latency" && ["native", "blas"].includes(backend.backend.name);
  const count = availableParallelism();
  return isSplit && count > 1 ? [...new Set([1, Math.ceil(count / 2)])] : [];
}

function keyOf({ graph, settings }: ProgramCandidate): string {
  return `${describeGraph(graph)} ${JSON.stringify(settings)}`;
}

/** Whether an error is due to an aborted signal: work that was interrupted between its steps fails with errors of its own. */
export function isAborted(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || (error instanceof InferyardError && error.code === "ABORTED");
}
