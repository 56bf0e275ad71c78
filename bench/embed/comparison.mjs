// From the records of all rounds to the figures and ratios that are reported.
import { cosine, pairedRatios, summary } from "../statistics.mjs";
import { contenders, precisions } from "./rounds.mjs";

// What issue 4 asks for; `max` or `min` is the bound of the ratio `over` / `under`.
const aims = [
  { work: "16 tokens", over: ["inferyard"], under: ["raw"], max: { fp32: 1.03, int8: 1.03 } },
  { work: "128 tokens", over: ["inferyard"], under: ["raw"], max: { fp32: 1.03, int8: 1.03 } },
  { over: ["transformers", "batches of 32"], under: ["inferyard", "default"], min: { fp32: 4, int8: 4 } },
  { over: ["transformers", "one by one"], under: ["inferyard", "default"], min: { fp32: 1.3, int8: 1.8 } },
  { over: ["raw", "sorted, 512 tokens"], under: ["inferyard", "default"] },
  { over: ["raw", "one by one"], under: ["inferyard", "default"] },
];

export function compare(records) {
  return precisions.map((precision) => {
    const mine = records.filter((record) => record.precision === precision);
    return {
      precision,
      latency: latencies(mine),
      bulk: bulks(mine),
      ratios: ratios(mine, precision),
      agreement: agreement(mine),
    };
  });
}

function latencies(records) {
  return contenders.flatMap((contender) => {
    const runs = of(records, contender, "latency");
    return Object.keys(runs[0].times).map((work) => ({
      contender,
      work,
      milliseconds: summary(runs.map(({ times }) => times[work].median)),
      min: Math.min(...runs.map(({ times }) => times[work].min)),
    }));
  });
}

function bulks(records) {
  return contenders.flatMap((contender) => {
    const runs = of(records, contender, "bulk");
    const megabytes = Math.max(...runs.map((run) => run.megabytes));
    return Object.keys(runs[0].times).map((mode) => ({
      contender,
      mode,
      seconds: summary(runs.map(({ times }) => times[mode] / 1000)),
      texts: runs[0].vectors.length,
      megabytes,
    }));
  });
}

function ratios(records, precision) {
  return aims.map(({ work, over, under, max, min }) => {
    const kind = work === undefined ? "bulk" : "latency";
    const measured = ([contender, mode]) =>
      of(records, contender, kind).map(({ times }) => (work === undefined ? times[mode] : times[work].median));
    const ratio = pairedRatios(measured(over), measured(under));
    const bound = max?.[precision] ?? min?.[precision];
    const met = bound === undefined ? undefined : max === undefined ? ratio.median >= bound : ratio.median <= bound;
    const name = `${over.join(", ")} / ${under.join(", ")}`;
    return {
      name,
      work: work ?? "bulk",
      ratio,
      ...(bound === undefined ? {} : { aim: `${max === undefined ? ">=" : "<="} ${bound}`, met }),
    };
  });
}

// The lowest cosine between each contender's vectors and raw's, over all texts: it shows that all of them computed the same thing.
function agreement(records) {
  return contenders.slice(1).map((contender) => {
    const cosines = ["latency", "bulk"].flatMap((kind) => {
      const [reference] = of(records, "raw", kind);
      return of(records, contender, kind).flatMap(({ vectors }) =>
        vectors.map((vector, index) => cosine(vector, reference.vectors[index])),
      );
    });
    return { contender, lowestCosine: Math.min(...cosines) };
  });
}

function of(records, contender, kind) {
  return records.filter((record) => record.contender === contender && record.kind === kind);
}
