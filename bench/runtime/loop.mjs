// How long the event loop is held up while texts are embedded: on the worker host, the library's choice, and inline for comparison.
// Run with `npm run bench:loop`. Ends with 1 when the worker host misses its aim.
import { monitorEventLoopDelay } from "node:perf_hooks";
import { setTimeout } from "node:timers/promises";
import { createRuntime } from "../measuring/built-package.mjs";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { miniLm } from "../measuring/shared-data.mjs";
import { formatTable } from "../measuring/table.mjs";
import { textsOfLengths } from "../measuring/texts.mjs";

const aimMs = 20; // 99th percentile, worker host
const { quick = false, json = false } = readOptions({ quick: { type: "boolean" }, json: { type: "boolean" } });
const durationMs = quick ? 2000 : 5000;
const tokens = 128;
const texts = textsOfLengths(Array(64).fill(tokens));

const load = watchLoad();
const results = [await measure("nothing, for comparison", () => setTimeout(100))];
for (const host of ["worker", "inline"]) results.push(await measureHost(host));
const worker = results.find(({ name }) => name === "worker");
const met = worker.p99 < aimMs;
report({ machine: describeMachine(), load: load(), aimMs, met, results });
process.exitCode = met ? 0 : 1;

async function measureHost(host) {
  const runtime = await createRuntime({ host });
  const model = await runtime.load(miniLm);
  const embed = () => runtime.embed(texts, { model });
  await embed(); // the copies are loaded here
  const result = await measure(host, embed);
  await runtime.dispose();
  return { ...result, textsPerSecond: (result.rounds * texts.length) / result.seconds };
}

// The timer that looks at the clock fires every millisecond, so an idle loop shows about 1 ms.
async function measure(name, work) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  const started = performance.now();
  let rounds = 0;
  delay.enable();
  for (; performance.now() - started < durationMs; rounds += 1) await work();
  delay.disable();
  const seconds = (performance.now() - started) / 1000;
  const [p50, p99] = [50, 99].map((percentile) => delay.percentile(percentile) / 1e6);
  return { name, p50, p99, longest: delay.max / 1e6, rounds, seconds };
}

function report(result) {
  if (json) {
    console.log(JSON.stringify(result, null, 2));
    return;
  }
  const rows = result.results.map(({ name, p50, p99, longest, textsPerSecond }) => [
    name,
    ...[p50, p99, longest].map((value) => value.toFixed(1)),
    textsPerSecond?.toFixed(0) ?? "-",
  ]);
  console.log(`machine  ${result.machine}\nload     ${describeLoad(result.load)}`);
  console.log(`work     ${texts.length} texts of ${tokens} tokens at a time, MiniLM fp32\n`);
  console.log(formatTable(["event loop delay, ms", "p50", "p99", "longest", "texts/s"], rows));
  console.log(`\naim: p99 below ${aimMs} ms on the worker host: ${result.met ? "met" : "missed"}`);
}
