/**
 * The search of `inferyard tune`: coordinate descent over the knobs. Each value of a knob is measured beside the best one so far, and replaces it
 * only if it is better by more than the rounds differ among themselves. `measure` runs the processes.
 */
import { omitUndefined } from "../contract/checked.ts";
import { median, spread } from "../platform/statistics.ts";

/** A value of each knob. */
export interface Point {
  readonly threads: number;
  readonly replicas: number | "auto";
  readonly batchTokens: number;
}

/** A setting that the search varies. */
export type Knob = keyof Point;

/** All knobs, in the order in which the search varies them. */
export const knobs: readonly Knob[] = ["threads", "replicas", "batchTokens"];

/** Result of one round of a point. */
export interface Sample {
  readonly latencyMs: number;
  readonly perSecond: number;
}

/** Measures points side by side: the samples of each point, round by round; undefined for a point that failed. */
export type Measure = (points: readonly Point[], rounds: number) => Promise<readonly (readonly Sample[] | undefined)[]>;

/** The plan of a search: where it starts, the values to try for each setting, and the numbers of rounds. */
export interface SearchPlan {
  /** The point that everything is compared with. */
  readonly start: Point;
  /** Knobs in the order in which they are tried, with their values; the value of the start may be among them. */
  readonly values: { readonly [Name in Knob]: readonly Point[Name][] };
  readonly rounds: number;
  /** Rounds of the final comparison of the result with the start. */
  readonly finalRounds: number;
}

/** The measurements of one value of one knob. */
export interface Trial {
  readonly knob: Knob;
  readonly point: Point;
  /** Omitted for a point that could not be measured. */
  readonly samples?: readonly Sample[];
  /** Gain over the best previous point. */
  readonly gain?: Gain;
  readonly chosen: boolean;
}

/** Ratios of latency and of bulk throughput; above 1 is better. */
export interface Gain {
  readonly latency: number;
  readonly bulk: number;
}

/** Result of a search. */
export interface SearchResult {
  readonly trials: readonly Trial[];
  /** The start, unless a better point was confirmed. */
  readonly best: Point;
  /** The final comparison; omitted if no better point was found. */
  readonly final?: {
    readonly found: Point;
    readonly rounds: number;
    readonly gain: Gain;
    readonly noise: Gain;
    readonly confirmed: boolean;
  };
}

/** Smallest relative gain in latency or throughput (0.03 is 3 %) for which `inferyard tune` recommends a setting, however low the noise. */
export const minGain = 0.03;

/** The figure that a knob should improve; the other one may not get worse by more than the noise. */
const primaryMetric: { readonly [Name in Knob]: keyof Gain } = { threads: "latency", replicas: "bulk", batchTokens: "bulk" };

/** Searches the settings with which a model runs fastest, as `inferyard tune` does. `measure` measures one combination of settings. */
export async function search(plan: SearchPlan, measure: Measure): Promise<SearchResult> {
  const trials: Trial[] = [];
  let best = plan.start;
  for (const knob of Object.keys(plan.values) as Knob[]) {
    const others = plan.values[knob].filter((value) => value !== best[knob]);
    if (others.length === 0) continue;
    const points = [best, ...others.map((value): Point => ({ ...best, [knob]: value }))];
    const measured = await measure(points, plan.rounds);
    const chosen = choose(points, measured, primaryMetric[knob]);
    trials.push(...getTrials(knob, points, measured, chosen));
    best = chosen;
  }
  if (isSame(best, plan.start)) return { trials, best };
  const [before, after] = await measure([plan.start, best], plan.finalRounds);
  if (before === undefined || after === undefined) return { trials, best: plan.start };
  const gain = getGain(after, before);
  const noise = getNoise([before, after]);
  // The selection favors lucky measurements: the point must win again, by more than the noise, without losing elsewhere.
  const confirmed = isBetter(gain, noise, "latency") || isBetter(gain, noise, "bulk");
  return {
    trials,
    best: confirmed ? best : plan.start,
    final: { found: best, rounds: plan.finalRounds, gain, noise, confirmed },
  };
}

/** The best of the points that beat the first one by more than the noise, or the first one. */
function choose(points: readonly Point[], measured: Awaited<ReturnType<Measure>>, aim: keyof Gain): Point {
  const [first, ...others] = points;
  const [base] = measured;
  if (first === undefined) throw new TypeError("a search needs a point to start from");
  if (base === undefined) return first; // nothing to compare with
  const noise = getNoise(measured.filter((samples) => samples !== undefined));
  let chosen = { point: first, gain: 1 };
  for (const [index, point] of others.entries()) {
    const samples = measured[index + 1];
    if (samples === undefined) continue;
    const gain = getGain(samples, base);
    if (isBetter(gain, noise, aim) && gain[aim] > chosen.gain) chosen = { point, gain: gain[aim] };
  }
  return chosen.point;
}

function isBetter(gain: Gain, noise: Gain, aim: keyof Gain): boolean {
  const other = aim === "latency" ? "bulk" : "latency";
  return gain[aim] > 1 + Math.max(noise[aim], minGain) && gain[other] > 1 - Math.max(noise[other], minGain);
}

/** Median gain over the rounds. Gains are relative within a round, so load that slows a whole round cancels out. */
function getGain(samples: readonly Sample[], base: readonly Sample[]): Gain {
  const ratios = (of: (sample: Sample, other: Sample) => number): number =>
    median(samples.flatMap((sample, round) => (base[round] === undefined ? [] : [of(sample, base[round])])));
  return {
    latency: ratios((sample, other) => other.latencyMs / sample.latencyMs),
    bulk: ratios((sample, other) => sample.perSecond / other.perSecond),
  };
}

/** How much the rounds of one point differ: the median of the spreads of the points. */
function getNoise(measured: readonly (readonly Sample[])[]): Gain {
  const of = (figure: keyof Sample): number => median(measured.map((samples) => spread(samples.map((sample) => sample[figure]))));
  return { latency: of("latencyMs"), bulk: of("perSecond") };
}

function getTrials(knob: Knob, points: readonly Point[], measured: Awaited<ReturnType<Measure>>, chosen: Point): Trial[] {
  const [base] = measured;
  return points.map((point, index) => {
    const samples = measured[index];
    return {
      knob,
      point,
      ...omitUndefined({ samples }),
      ...(samples === undefined || base === undefined ? {} : { gain: getGain(samples, base) }),
      chosen: point === chosen,
    };
  });
}

function isSame(a: Point, b: Point): boolean {
  return a.threads === b.threads && a.replicas === b.replicas && a.batchTokens === b.batchTokens;
}
