// The comparison as text.
import { describeLoad } from "../measuring/machine.mjs";
import { formatTable } from "../measuring/table.mjs";

export function formatReport({ machine, load, workload, contenders, comparison, minutes }) {
  const facts = [
    ["machine", machine],
    ["load", describeLoad(load)],
    ...contenders.map(({ name, what }) => [name, what]),
    ["work", `one text of 16 or of 128 tokens; ${workload.bulk.length} texts of 8 to 256, ${workload.bulkTokens} tokens`],
    ["rounds", "each contender in a fresh process; one text: slices of calls in turn"],
    ["time", `${minutes.toFixed(1)} minutes`],
  ];
  const heading = facts.map(([name, value]) => `${name.padEnd(14)}${value}`);
  return [...heading, ...comparison.map((each) => formatPrecision(each, workload))].join("\n");
}

function formatPrecision({ precision, times, ratios, agreement }, workload) {
  const figures = times.map(({ kind, contender, mode, rounds, milliseconds }) => [
    `${contender}, ${kind}, ${mode}`,
    milliseconds.median.toFixed(2),
    `${milliseconds.min.toFixed(2)} - ${milliseconds.max.toFixed(2)}`,
    String(rounds),
    (((kind === "bulk" ? workload.bulk.length : 1) * 1000) / milliseconds.median).toFixed(0),
  ]);
  const compared = ratios.map(({ name, rounds, ratio, low, high, aim, verdict }) => [
    name,
    ratio.toFixed(3),
    `${low.toFixed(3)} - ${high.toFixed(3)}`,
    String(rounds),
    aim ?? "",
    verdict ?? "",
  ]);
  return [
    `\n${precision}`,
    formatTable(["median of rounds", "ms", "range", "rounds", "texts/s"], figures),
    "",
    formatTable(["ratio of times, by round", "mean", "95 % interval", "rounds", "aim", ""], compared),
    "",
    `lowest cosine with raw: ${agreement.map(({ contender, lowestCosine }) => `${contender} ${lowestCosine.toFixed(6)}`).join(", ")}`,
  ].join("\n");
}
