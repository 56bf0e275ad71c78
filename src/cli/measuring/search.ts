/**
 * The search of `inferyard tune`: one knob after the other, every value of it measured side by side with the value it has so far. A value
 * takes over only when it is better by more than the rounds differ among themselves. Knows nothing of processes; `measure` does that.
 */
import { median, spread } from "./statistics.ts";

/** One choice of all knobs. */
export interface Point {
  readonly threads: number;
  readonly replicas: number | "auto";
  readonly batchTokens: number;
}

export type Knob = keyof Point;

/** What one round of a point gave. */
export interface Sample {
  readonly latencyMs: number;
  readonly perSecond: number;
}

/** Measures points side by side: for each point its samples, round by round; undefined for one that failed. */
export type Measure = (points: readonly Point[], rounds: number) => Promise<readonly (readonly Sample[] | undefined)[]>;

export interface SearchPlan {
  /** What everything is compared with. */
  readonly start: Point;
  /** In the order in which they are tried; the values to try of each, the start's own may be among them. */
  readonly values: { readonly [Name in Knob]: readonly Point[Name][] };
  readonly rounds: number;
  /** Rounds of the last comparison, of what was found with the start. */
  readonly finalRounds: number;
}

/** One value of one knob, as it was measured beside the others. */
export interface Trial {
  readonly knob: Knob;
  readonly point: Point;
  /** Left out for a point that could not be measured. */
  readonly samples?: readonly Sample[];
  /** Ratios to the point that stood before: above 1 is better. */
  readonly gain?: Gain;
  readonly chosen: boolean;
}

export interface Gain {
  readonly latency: number;
  readonly bulk: number;
}

export interface SearchResult {
  readonly trials: readonly Trial[];
  /** The start, where nothing was found that is really better. */
  readonly best: Point;
  /** Of the last comparison; left out where nothing was found to compare. */
  readonly final?: { readonly found: Point; readonly gain: Gain; readonly noise: Gain; readonly confirmed: boolean };
}

/** A gain below this is not worth a setting, however quiet the machine. */
export const minGain = 0.03;

/** Which of the two figures a knob is for; the other may not get worse by more than the noise. */
const primaryMetric: { readonly [Name in Knob]: keyof Gain } = { threads: "latency", replicas: "bulk", batchTokens: "bulk" };

export async function search(plan: SearchPlan, measure: Measure): Promise<SearchResult> {
  const trials: Trial[] = [];
  let best = plan.start;
  for (const knob of Object.keys(plan.values) as Knob[]) {
    const others = plan.values[knob].filter((value) => value !== best[knob]);
    if (others.length === 0) continue;
    const points = [best, ...others.map((value): Point => ({ ...best, [knob]: value }))];
    const measured = await measure(points, plan.rounds);
    const chosen = choose(points, measured, primaryMetric[knob]);
    trials.push(...trialsOf(knob, points, measured, chosen));
    best = chosen;
  }
  if (isSame(best, plan.start)) return { trials, best };
  const [before, after] = await measure([plan.start, best], plan.finalRounds);
  if (before === undefined || after === undefined) return { trials, best: plan.start };
  const gain = gainOf(after, before);
  const noise = noiseOf([before, after]);
  // Chance picks winners too: what was found must win again, beyond the noise, and lose nothing elsewhere.
  const confirmed = isBetter(gain, noise, "latency") || isBetter(gain, noise, "bulk");
  return { trials, best: confirmed ? best : plan.start, final: { found: best, gain, noise, confirmed } };
}

/** The best of the points that beat the first beyond the noise of all, or the first. */
function choose(points: readonly Point[], measured: Awaited<ReturnType<Measure>>, aim: keyof Gain): Point {
  const [first, ...others] = points;
  const [base] = measured;
  if (first === undefined) throw new TypeError("a search needs a point to start from");
  if (base === undefined) return first; // nothing to compare with
  const noise = noiseOf(measured.filter((samples) => samples !== undefined));
  let chosen = { point: first, gain: 1 };
  for (const [index, point] of others.entries()) {
    const samples = measured[index + 1];
    if (samples === undefined) continue;
    const gain = gainOf(samples, base);
    if (isBetter(gain, noise, aim) && gain[aim] > chosen.gain) chosen = { point, gain: gain[aim] };
  }
  return chosen.point;
}

function isBetter(gain: Gain, noise: Gain, aim: keyof Gain): boolean {
  const other = aim === "latency" ? "bulk" : "latency";
  return gain[aim] > 1 + Math.max(noise[aim], minGain) && gain[other] > 1 - Math.max(noise[other], minGain);
}

/** Round by round, so that what slows a whole round down cancels out; the median of the rounds. */
function gainOf(samples: readonly Sample[], base: readonly Sample[]): Gain {
  const ratios = (of: (sample: Sample, other: Sample) => number): number =>
    median(samples.flatMap((sample, round) => (base[round] === undefined ? [] : [of(sample, base[round])])));
  return {
    latency: ratios((sample, other) => other.latencyMs / sample.latencyMs),
    bulk: ratios((sample, other) => sample.perSecond / other.perSecond),
  };
}

/** How far rounds of one and the same point differ: the middle one of the points' spreads. */
function noiseOf(measured: readonly (readonly Sample[])[]): Gain {
  const of = (figure: keyof Sample): number => median(measured.map((samples) => spread(samples.map((sample) => sample[figure]))));
  return { latency: of("latencyMs"), bulk: of("perSecond") };
}

function trialsOf(knob: Knob, points: readonly Point[], measured: Awaited<ReturnType<Measure>>, chosen: Point): Trial[] {
  const [base] = measured;
  return points.map((point, index) => {
    const samples = measured[index];
    return {
      knob,
      point,
      ...(samples === undefined ? {} : { samples }),
      ...(samples === undefined || base === undefined ? {} : { gain: gainOf(samples, base) }),
      chosen: point === chosen,
    };
  });
}

function isSame(a: Point, b: Point): boolean {
  return a.threads === b.threads && a.replicas === b.replicas && a.batchTokens === b.batchTokens;
}
