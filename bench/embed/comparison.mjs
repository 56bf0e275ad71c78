// From the records of all rounds to what is reported.
import { cosine, summary } from "../measuring/statistics.mjs";
import { contenders, groups, precisions, ratiosOf } from "./ratios.mjs";

export function compare(records) {
  return precisions.map((precision) => ({
    precision,
    times: times(records.filter((record) => record.precision === precision)),
    ratios: groups.filter((group) => group.precision === precision).flatMap((group) => ratiosOf(group, records)),
    agreement: agreement(records.filter((record) => record.precision === precision)),
  }));
}

// Milliseconds of one call, or of all texts in bulk: the median of the rounds, their extremes, and how many there were.
function times(records) {
  const rows = new Map();
  for (const { kind, times: byContender } of records)
    for (const [contender, byMode] of Object.entries(byContender))
      for (const [mode, milliseconds] of Object.entries(byMode)) {
        const key = [kind, contender, mode].join();
        rows.set(key, { kind, contender, mode, values: [...(rows.get(key)?.values ?? []), milliseconds] });
      }
  return [...rows.values()].map(({ values, ...row }) => ({ ...row, rounds: values.length, milliseconds: summary(values) }));
}

// The lowest cosine between each contender's vectors and raw's, over all texts: it shows that all of them computed the same thing.
function agreement(records) {
  return contenders.slice(1).flatMap((contender) => {
    const cosines = records
      .filter(({ vectors }) => vectors[contender] !== undefined && vectors.raw !== undefined)
      .flatMap(({ vectors }) => vectors[contender].map((vector, index) => cosine(vector, vectors.raw[index])));
    return cosines.length === 0 ? [] : [{ contender, lowestCosine: Math.min(...cosines) }];
  });
}
