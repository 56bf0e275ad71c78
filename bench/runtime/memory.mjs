// What ten cycles of loading, running and unloading leave in memory. Run with `npm run bench:memory`. `-- --all` adds int8 and wasm; `-- --trim`
// has glibc hand freed memory back at once, which tells a leak from memory that the allocator keeps for the next load. Ends with 1 when
// resident memory has grown more than it may.
import { fork } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { createRuntime } from "../measuring/built-package.mjs";
import { describeMachine } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { miniLm } from "../measuring/shared-data.mjs";
import { mixedLengths, textsOfLengths } from "../measuring/texts.mjs";

const aim = 1.1; // resident memory after the tenth cycle, divided by that after the second
const cycles = 10;
const configurations = [
  { target: "onnx:cpu", variant: "fp32" },
  { target: "onnx:cpu", variant: "int8" },
  { target: "wasm:cpu", variant: "fp32" },
];
// Any fixed threshold switches off glibc's own habit of raising it (mallopt(3), M_MMAP_THRESHOLD). It is read when a process starts.
const trimming = { MALLOC_TRIM_THRESHOLD_: "131072" };

const {
  all = false,
  trim = false,
  single,
} = readOptions({
  all: { type: "boolean" },
  trim: { type: "boolean" },
  single: { type: "string" }, // the configuration with this number, in this process
});

if (globalThis.gc === undefined) {
  console.error("the garbage collector is out of reach: run `npm run bench:memory`, or node with --expose-gc");
  process.exitCode = 1;
} else if (single === undefined) {
  console.log(`${describeMachine()}\nresident memory in MB after each of ${cycles} cycles${trim ? ", glibc trimming" : ""}`);
  const numbers = [...configurations.keys()].slice(0, all ? undefined : 1);
  const codes = [];
  for (const number of numbers) codes.push(await measureInChild(number));
  process.exitCode = Math.max(...codes);
} else {
  process.exitCode = await measure(configurations[Number(single)]);
}

// Each configuration has a process of its own, with --expose-gc as this one has.
function measureInChild(number) {
  const child = fork(import.meta.filename, ["--single", String(number)], { env: { ...process.env, ...(trim ? trimming : {}) } });
  return new Promise((resolve) => child.once("exit", (code) => resolve(code ?? 1)));
}

async function measure({ target, variant }) {
  const few = textsOfLengths(mixedLengths(32));
  const bulk = textsOfLengths(mixedLengths(160)); // 12,000 tokens: enough for copies to be loaded
  const runtime = await createRuntime();
  const resident = [];
  const start = await residentMegabytes();
  console.log(`\nMiniLM ${variant} on ${target}\nstart     ${start.toFixed(0).padStart(5)}`);
  for (let cycle = 1; cycle <= cycles; cycle += 1) {
    const model = await runtime.load(miniLm, { target, variant });
    await runtime.embed(few, { model });
    await runtime.embed(bulk, { model });
    const loaded = process.memoryUsage().rss / 2 ** 20;
    await model.dispose();
    await runtime.unloadIdle();
    const unloaded = await residentMegabytes();
    resident.push(unloaded);
    console.log(`cycle ${String(cycle).padStart(2)}  ${unloaded.toFixed(0).padStart(5)}   (${loaded.toFixed(0)} while loaded)`);
  }
  await runtime.dispose();
  const ratio = resident.at(-1) / resident[1];
  const perCycle = (resident.at(-1) - resident[1]) / (cycles - 2);
  const met = ratio <= aim;
  console.log(
    `${perCycle.toFixed(1)} MB a cycle since the second; tenth / second ${ratio.toFixed(3)}, aim <= ${aim}: ${met ? "met" : "missed"}`,
  );
  return met ? 0 : 1;
}

async function residentMegabytes() {
  for (let pass = 0; pass < 2; pass += 1) {
    globalThis.gc();
    await setTimeout(100); // finalizers, and threads that are ending
  }
  return process.memoryUsage().rss / 2 ** 20;
}
