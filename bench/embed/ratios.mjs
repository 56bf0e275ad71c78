// The ratios that the benchmark settles, and when one is settled.
import { ratioInterval } from "../measuring/statistics.mjs";

export const contenders = ["raw", "inferyard", "native", "transformers"];
export const precisions = ["fp32", "int8"];

// `over` and `under` are a contender and a mode of its work; `max` or `min` is the aim for the quotient of their times, by precision.
const aims = [
  { kind: "one text", over: ["inferyard", "16 tokens"], under: ["raw", "16 tokens"], max: { fp32: 1.03, int8: 1.03 } },
  { kind: "one text", over: ["inferyard", "128 tokens"], under: ["raw", "128 tokens"], max: { fp32: 1.03, int8: 1.03 } },
  { kind: "bulk", over: ["transformers", "batches of 32"], under: ["inferyard", "default"], min: { fp32: 4, int8: 4 } },
  { kind: "bulk", over: ["transformers", "one by one"], under: ["inferyard", "default"], min: { fp32: 1.3, int8: 1.8 } },
  { kind: "bulk", over: ["raw", "sorted, 512 tokens"], under: ["inferyard", "default"] },
  { kind: "one text", over: ["native", "16 tokens"], under: ["raw", "16 tokens"] },
  { kind: "one text", over: ["native", "128 tokens"], under: ["raw", "128 tokens"] },
  { kind: "bulk", over: ["native", "default"], under: ["raw", "sorted, 512 tokens"], max: { fp32: 1, int8: 1 } },
];

const minimumRounds = 3; // of which an interval is trusted
const narrow = 0.02; // half-width of an interval around the aim that no further round is spent on

// Rounds of one kind of work in one precision, and the share of the run's time that they get.
export const groups = [
  { kind: "one text", precision: "fp32", share: 0.2 },
  { kind: "one text", precision: "int8", share: 0.15 },
  { kind: "bulk", precision: "fp32", share: 0.4 },
  { kind: "bulk", precision: "int8", share: 0.25 },
];

// The ratios of a group after the rounds in `records`: [{ name, rounds, ratio, low, high, aim, verdict, open }].
export function ratiosOf({ kind, precision }, records) {
  const mine = records.filter((record) => record.kind === kind && record.precision === precision);
  return aims.filter((each) => each.kind === kind).map((each) => describe(each, precision, mine));
}

function describe({ over, under, max, min }, precision, records) {
  const pairs = records
    .map((record) => [over, under].map(([contender, mode]) => record.times[contender]?.[mode]))
    .filter(([numerator, denominator]) => numerator !== undefined && denominator !== undefined);
  const interval = ratioInterval(
    pairs.map(([numerator]) => numerator),
    pairs.map(([, denominator]) => denominator),
  );
  const bound = (max ?? min)?.[precision];
  const verdict = bound === undefined ? undefined : judge(interval, bound, max !== undefined);
  return {
    name: `${over.join(", ")} / ${under[0]}${over[1] === under[1] ? "" : `, ${under[1]}`}`,
    modes: [over, under],
    rounds: pairs.length,
    ...interval,
    ...(bound === undefined ? {} : { aim: `${max === undefined ? ">=" : "<="} ${bound}`, verdict }),
    open: pairs.length < minimumRounds || !isSettled(interval, verdict),
  };
}

// Met or missed only where the whole interval lies on one side of the aim.
function judge({ low, high }, bound, isMaximum) {
  if (low > bound) return isMaximum ? "missed" : "met";
  if (high < bound) return isMaximum ? "met" : "missed";
  return "not settled";
}

// A ratio without an aim gets no more than the rounds that the others need.
function isSettled({ ratio, low, high }, verdict) {
  return verdict !== "not settled" || (high - low) / 2 / ratio <= narrow;
}
