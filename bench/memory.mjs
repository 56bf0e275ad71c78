// What ten cycles of loading, running and unloading leave in memory. Run with `npm run bench:memory`; `-- --all` adds int8 and wasm, each
// in a process of its own. Ends with 1 when resident memory has grown more than it may.
import { fork } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import { createRuntime } from "./built-package.mjs";
import { describeMachine } from "./machine.mjs";
import { readOptions } from "./options.mjs";
import { miniLm } from "./shared-data.mjs";
import { mixedLengths, textsOfLengths } from "./texts.mjs";

const aim = 1.1; // resident memory after the tenth cycle, divided by that after the second
const cycles = 10;
const configurations = [
  { target: "onnx:cpu", variant: "fp32" },
  { target: "onnx:cpu", variant: "int8" },
  { target: "wasm:cpu", variant: "fp32" },
];

const options = readOptions({ all: { type: "boolean" }, target: { type: "string" }, variant: { type: "string" } });
const { all = false, target = "onnx:cpu", variant = "fp32" } = options;

if (globalThis.gc === undefined) {
  console.error("the garbage collector is out of reach: run `npm run bench:memory`, or node with --expose-gc");
  process.exitCode = 1;
} else if (all) {
  for (const configuration of configurations) process.exitCode ||= await measureInChild(configuration);
} else {
  process.exitCode = await measure();
}

async function measure() {
  const few = textsOfLengths(mixedLengths(32));
  const bulk = textsOfLengths(mixedLengths(160)); // 11,000 tokens: enough for copies to be loaded
  console.log(`MiniLM ${variant} on ${target}, resident memory in MB\n${describeMachine()}\n`);
  const runtime = await createRuntime();
  const resident = [];
  console.log(`start      ${(await residentMegabytes()).toFixed(0)}`);
  for (let cycle = 1; cycle <= cycles; cycle += 1) {
    const model = await runtime.load(miniLm, { target, variant });
    await runtime.embed(few, { model });
    await runtime.embed(bulk, { model });
    const loaded = process.memoryUsage().rss / 2 ** 20;
    await model.dispose();
    await runtime.unloadIdle();
    resident.push(await residentMegabytes());
    console.log(`cycle ${String(cycle).padStart(2)}   ${resident.at(-1).toFixed(0).padStart(5)}   (${loaded.toFixed(0)} before unloading)`);
  }
  await runtime.dispose();
  const ratio = resident.at(-1) / resident[1];
  const perCycle = (resident.at(-1) - resident[1]) / (cycles - 2);
  const met = ratio <= aim;
  console.log(`\n${perCycle.toFixed(1)} MB a cycle since the second; tenth / second ${ratio.toFixed(3)}, aim <= ${aim}: ${met ? "met" : "missed"}`);
  return met ? 0 : 1;
}

async function residentMegabytes() {
  for (let pass = 0; pass < 2; pass += 1) {
    globalThis.gc();
    await setTimeout(100); // finalizers, and threads that are ending
  }
  return process.memoryUsage().rss / 2 ** 20;
}

// A child inherits --expose-gc.
function measureInChild(configuration) {
  const child = fork(import.meta.filename, ["--target", configuration.target, "--variant", configuration.variant]);
  return new Promise((resolve) => child.once("exit", (code) => {
    console.log();
    resolve(code ?? 1);
  }));
}
