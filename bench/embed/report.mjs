// The comparison as text.
import { describeLoad } from "../machine.mjs";
import { formatTable } from "../table.mjs";

export function formatReport({ machine, load, workload, contenders, comparison, minutes }) {
  const facts = [
    ["machine", machine],
    ["load", describeLoad(load)],
    ...contenders.map(({ name, what }) => [name, what]),
    ["work", `one text of 16 or of 128 tokens; ${workload.bulk.length} texts of 8 to 256, ${workload.bulkTokens} tokens`],
    [
      "rounds",
      `${workload.latencyRounds} of single texts, ${workload.bulkRounds} of bulk; each contender in a fresh process, in turn`,
    ],
    ["time", `${minutes.toFixed(1)} minutes`],
  ];
  const heading = facts.map(([name, value]) => `${name.padEnd(14)}${value}`);
  return [...heading, ...comparison.map(formatPrecision)].join("\n");
}

function formatPrecision({ precision, latency, bulk, ratios, agreement }) {
  const single = latency.map(({ contender, work, milliseconds, min }) => [
    `${contender}, one text of ${work}`,
    milliseconds.median.toFixed(2),
    range(milliseconds, 2),
    min.toFixed(2),
  ]);
  const many = bulk.map(({ contender, mode, seconds, texts, megabytes }) => [
    `${contender}, ${mode}`,
    seconds.median.toFixed(2),
    range(seconds, 2),
    (texts / seconds.median).toFixed(0),
    megabytes.toFixed(0),
  ]);
  const compared = ratios.map(({ name, work, ratio, aim, met }) => [
    `${name}, ${work}`,
    ratio.median.toFixed(3),
    range(ratio, 3),
    aim ?? "",
    met === undefined ? "" : met ? "met" : "missed",
  ]);
  return [
    `\n${precision}`,
    formatTable(["one text", "ms", "rounds", "best call"], single),
    "",
    formatTable(["bulk", "s", "rounds", "texts/s", "RSS MB"], many),
    "",
    formatTable(["ratio, round by round", "median", "rounds", "aim", ""], compared),
    "",
    `lowest cosine with raw: ${agreement.map(({ contender, lowestCosine }) => `${contender} ${lowestCosine.toFixed(6)}`).join(", ")}`,
  ].join("\n");
}

function range({ min, max }, digits) {
  return `${min.toFixed(digits)} - ${max.toFixed(digits)}`;
}
