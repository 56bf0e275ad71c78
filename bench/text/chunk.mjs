// Whether chunking takes time in proportion to the text: MB/s for texts of 0.5, 1, 2 and 5 MB, made of this project's own pages. Run with
// `npm run bench:chunk`. Ends with 1 when the rate on the largest text is below half of that on the smallest.
import { readFileSync, readdirSync } from "node:fs";
import { createRuntime } from "../measuring/built-package.mjs";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { formatTable } from "../measuring/table.mjs";

const { quick = false, json = false } = readOptions({ quick: { type: "boolean" }, json: { type: "boolean" } });
const strategies = quick ? ["fixed"] : ["fixed", "markdown", "code"];
const sizes = [0.5, 1, 2, 5];
const folder = new URL("../../docs/", import.meta.url);
const pages = readdirSync(folder, { recursive: true })
  .filter((name) => name.endsWith(".md"))
  .toSorted()
  .map((name) => readFileSync(new URL(name, folder), "utf8"));

const runtime = await createRuntime();
const model = await runtime.load("builtin");
const load = watchLoad();
const results = [];
await runtime.chunk(textOf(0.1), { model }); // compiled and read before anything is timed
for (const strategy of strategies) {
  for (const megabytes of sizes) {
    const text = textOf(megabytes);
    const started = performance.now();
    const { chunks } = (await runtime.chunk(text, { model, strategy })).results[0];
    const seconds = (performance.now() - started) / 1000;
    if (chunks.map((chunk) => chunk.text).join("") !== text) throw new Error(`${strategy}, ${megabytes} MB: text was lost`);
    if (chunks.some(({ tokens }) => tokens > 500)) throw new Error(`${strategy}, ${megabytes} MB: a chunk exceeds the target`);
    results.push({ strategy, megabytes, chunks: chunks.length, seconds, rate: megabytes / seconds });
  }
}
await runtime.dispose();
const rateOf = (strategy, megabytes) => results.find((row) => row.strategy === strategy && row.megabytes === megabytes).rate;
const linear = strategies.every((strategy) => rateOf(strategy, sizes.at(-1)) >= rateOf(strategy, sizes[0]) / 2);
report({ machine: describeMachine(), load: load(), linear, results });
process.exitCode = linear ? 0 : 1;

/** A million UTF-16 units for each megabyte; the pages are all but plain ASCII. */
function textOf(megabytes) {
  const units = megabytes * 1e6;
  const once = pages.join("\n\n");
  return once.repeat(Math.ceil(units / once.length)).slice(0, units);
}

function report(outcome) {
  if (json) return console.log(JSON.stringify(outcome));
  console.log(`${outcome.machine}\n${describeLoad(outcome.load)}\n`);
  const rows = outcome.results.map(({ strategy, megabytes, chunks, seconds, rate }) => [
    strategy,
    `${megabytes} MB`,
    chunks,
    `${seconds.toFixed(2)} s`,
    `${rate.toFixed(2)} MB/s`,
  ]);
  console.log(formatTable(["strategy", "text", "chunks", "time", "rate"], rows));
}
