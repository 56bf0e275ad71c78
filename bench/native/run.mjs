// Our own engine beside onnxruntime-web and onnxruntime-node, the same models and inputs in one run, one thread each: `npm run bench:native`,
// and with `-- --quick` a short run that shows the order of things but settles nothing. `--models FOLDER`: see works.mjs; what is not there is left out by name.
// `--svg FILE` draws the ratios to onnxruntime-node. Every engine has a process of its own that stays for all
// rounds; within a round they take turns, so that what others do on the machine meets all alike. `--threads 2` gives each two threads.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import "../measuring/built-package.mjs";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { geometricMean, median, pairedRatios } from "../measuring/statistics.mjs";
import { writeBars } from "../measuring/bars-svg.mjs";
import { formatTable } from "../measuring/table.mjs";
import { halfValue } from "./half.mjs";
import { startEngine } from "./engine.mjs";
import { makeWorks } from "./works.mjs";

const engines = ["native", "onnxruntime-web", "onnxruntime-node"];
const text = { type: "string" };
const options = { quick: { type: "boolean" }, json: { type: "boolean" }, threads: text, only: text, models: text, svg: text };
const { quick = false, json = false, threads = "1", only = "", models = "", svg } = readOptions(options);
const rounds = quick ? 3 : 9;
const aim = { "MiniLM 1x128": 0.6, "MiniLM 32x128": 0.6 };
const aimElsewhere = 0.8;
// Runs that take less than the first are repeated in a round until they take it together, and before the first round until they take the second.
const shortMilliseconds = 5;
const warmingMilliseconds = 300;

const load = watchLoad();
const results = [];
const folder = mkdtempSync(join(tmpdir(), "inferyard-bench-native-"));
process.once("exit", () => rmSync(folder, { recursive: true }));
for (const given of makeWorks(models)) {
  if (!only.split(",").some((part) => given.name.includes(part))) continue;
  const work = { path: join(folder, "model.onnx"), ...given };
  if (work.write !== undefined) writeFileSync(work.path, work.write());
  if (!existsSync(work.path)) {
    console.error(`${work.name}: skipped, ${work.path} is not there`);
    continue;
  }
  console.error(work.name);
  results.push(await measured(work));
}
const result = { machine: describeMachine(), load: load(), threads: Number(threads), rounds, results };
report(result);
if (svg !== undefined) draw(result, svg);

async function measured(work) {
  const started = [];
  const refusals = {};
  for (const name of engines) {
    const { path, inputs, decode } = work;
    const engine = startEngine({ engine: name, threads: Number(threads), path, inputs, decode });
    try {
      started.push({ name, engine, first: await engine.next(), times: [] });
    } catch (error) {
      refusals[name] = error.message;
    }
  }
  // Runs of less than a few milliseconds are mostly JavaScript, which V8 optimizes after some hundred runs: rounds begin after them.
  for (const each of started) {
    each.early = await each.engine.time(9);
    const last = each.early.milliseconds.at(-1);
    if (last < shortMilliseconds) await each.engine.time(Math.ceil(warmingMilliseconds / last));
    each.runs = work.slow ? 1 : Math.max(3, Math.ceil(shortMilliseconds / last));
  }
  const count = work.slow ? Math.min(rounds, 3) : rounds;
  for (let round = 0; round < count; round += 1) {
    for (const each of round % 2 === 0 ? started : started.toReversed()) each.times.push(await each.engine.time(each.runs));
  }
  const truth = started.find(({ name }) => name === "onnxruntime-node") ?? started[0];
  const rows = {};
  for (const { name, engine, first, early, times } of started) {
    const flat = times.map(({ milliseconds }) => median(milliseconds));
    rows[name] = {
      loadMilliseconds: first.loadMilliseconds,
      firstMilliseconds: first.firstMilliseconds,
      tenthMilliseconds: early.milliseconds.at(-1),
      medianMilliseconds: median(flat),
      minMilliseconds: Math.min(...times.flatMap(({ milliseconds }) => milliseconds)),
      megabytes: times.at(-1).residentBytes / 1e6,
      difference: difference(first.outputs, truth.first.outputs),
      times: flat,
    };
    engine.stop();
  }
  return { name: work.name, tolerance: work.tolerance, rows, refusals };
}

// The largest over all outputs, relative to the largest element of the output where that is above 1.
function difference(outputs, truth) {
  return Math.max(
    ...Object.entries(truth).map(([name, wanted]) => {
      const given = outputs[name];
      if (given === undefined || given.length !== wanted.length) return Number.POSITIVE_INFINITY;
      let [worst, size] = [0, 1];
      for (let index = 0; index < wanted.length; index += 1) {
        const [one, other] = [given, wanted].map((data) =>
          data instanceof Uint16Array ? halfValue(data[index]) : Number(data[index]),
        );
        const apart = Math.abs(one - other);
        worst = Math.max(worst, Number.isNaN(apart) ? Number.POSITIVE_INFINITY : apart);
        size = Math.max(size, Math.abs(other));
      }
      return worst / size;
    }),
  );
}

function report(result) {
  if (json) {
    console.log(JSON.stringify(result, null, 2));
    return;
  }
  console.log(`machine  ${result.machine}\nload     ${describeLoad(result.load)}`);
  console.log(
    `threads  ${result.threads} each; ${result.rounds} rounds, engines in turn; milliseconds are medians of rounds, of a token where it says decode\n`,
  );
  const head = [
    "model and shape",
    "native",
    "ort-web",
    "ort-node",
    "to web",
    "rounds",
    "aim",
    "to node",
    "load: native",
    "web",
    "first/tenth",
    "MB: native",
    "web",
    "differs",
    "same",
  ];
  const rows = result.results.map(({ name, tolerance, rows, refusals }) => {
    const { native, "onnxruntime-web": web, "onnxruntime-node": node } = rows;
    const figure = (row, key, digits = 1) => row?.[key].toFixed(digits) ?? "-";
    if (native === undefined) return [name, `refused: ${refusals.native}`];
    const ratio = web === undefined ? undefined : pairedRatios(native.times, web.times);
    return [
      name,
      figure(native, "medianMilliseconds"),
      figure(web, "medianMilliseconds"),
      figure(node, "medianMilliseconds"),
      ratio?.median.toFixed(2) ?? "-",
      ratio === undefined ? "-" : `${ratio.min.toFixed(2)} to ${ratio.max.toFixed(2)}`,
      `${aimOf(name)}`,
      nodeRatio(rows)?.toFixed(2) ?? "-",
      figure(native, "loadMilliseconds", 0),
      figure(web, "loadMilliseconds", 0),
      (native.firstMilliseconds / native.tenthMilliseconds).toFixed(1),
      figure(native, "megabytes", 0),
      figure(web, "megabytes", 0),
      native.difference.toExponential(1),
      native.difference <= tolerance ? "yes" : "NO",
    ];
  });
  console.log(formatTable(head, rows));
  const ratios = result.results.flatMap(({ rows }) => nodeRatio(rows) ?? []);
  if (ratios.length > 0)
    console.log(`\ngeometric mean to onnxruntime-node: ${geometricMean(ratios).toFixed(2)} (${ratios.length} works)`);
  for (const { name, refusals } of result.results)
    for (const [engine, reason] of Object.entries(refusals)) console.log(`${name}: ${engine} refused: ${reason}`);
  if (result.results.some(({ rows, tolerance }) => (rows.native?.difference ?? 0) > tolerance)) process.exitCode = 1;
}

// Our time as a share of onnxruntime-node's.
function nodeRatio({ native, "onnxruntime-node": node }) {
  return native === undefined || node === undefined ? undefined : pairedRatios(native.times, node.times).median;
}

function draw({ machine, threads: used, results: measuredWorks }, path) {
  const bars = measuredWorks.flatMap(({ name, rows }) => {
    const value = nodeRatio(rows);
    if (value === undefined) return [];
    const times = [rows.native, rows["onnxruntime-node"]].map(({ medianMilliseconds }) => medianMilliseconds.toPrecision(3));
    return [{ label: name, value, note: `${times[0]} ms beside ${times[1]} ms` }];
  });
  const mean = geometricMean(bars.map(({ value }) => value));
  writeBars(path, {
    title: "Time of our engine divided by onnxruntime-node's (less is better)",
    subtitle: `${machine}; ${used} ${used === 1 ? "thread" : "threads"}`,
    bars: [...bars, { label: `geometric mean of ${bars.length}`, value: mean, note: "", isTotal: true }],
    reference: { value: 1, label: "onnxruntime-node", isMoreBetter: false },
  });
}

function aimOf(name) {
  const found = Object.entries(aim).find(([start]) => name.startsWith(start));
  return found?.[1] ?? aimElsewhere;
}
