/** Output of `inferyard tune`. */
import { formatTable } from "../output/table.ts";
import { formatMilliseconds } from "../output/units.ts";
import type { Gain, Knob, Trial, TuneFigures } from "../../measuring/index.ts";
import { median } from "../../platform/statistics.ts";

/** The trials as a table, and the conclusion in a sentence. */
export function formatTuning({ start, trials, final }: TuneFigures): string {
  const table = formatTable(trials.map(cells), ["setting", "one input", "inputs/s (bulk)", "gain, one", "gain, bulk", ""]);
  if (final === undefined) return `${table}\nno value beats the defaults by more than the rounds differ: leave them`;
  const { gain, noise, found, confirmed, rounds } = final;
  const compared = `against the defaults, ${rounds} rounds: one input ${gains(gain.latency, noise.latency)}, bulk ${gains(gain.bulk, noise.bulk)}`;
  const names = (Object.keys(start) as Knob[]).filter((knob) => found[knob] !== start[knob]);
  const what = names.map((knob) => `${knob}: ${found[knob]}`).join(", ");
  const verdict = confirmed ? `better: ${what}` : `${what} did not win again: leave the defaults`;
  return [table, compared, verdict].join("\n");
}

function cells({ knob, point, samples, gain, chosen }: Trial): string[] {
  const setting = `${knob} ${point[knob]}`;
  if (samples === undefined) return [setting, "failed", "", "", "", ""];
  return [
    setting,
    formatMilliseconds(median(samples.map(({ latencyMs }) => latencyMs))),
    median(samples.map(({ perSecond }) => perSecond)).toFixed(0),
    ratio(gain, "latency"),
    ratio(gain, "bulk"),
    chosen ? "best" : "",
  ];
}

function ratio(gain: Gain | undefined, of: keyof Gain): string {
  return gain === undefined ? "" : `x ${gain[of].toFixed(2)}`;
}

function gains(gain: number, noise: number): string {
  return `x ${gain.toFixed(2)} (the rounds differ by ${(noise * 100).toFixed(0)} %)`;
}
