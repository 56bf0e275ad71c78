// Where the time of a language model goes on `native`, by kernel: a prompt and decoding of the model with random weights of `run.mjs`, on one thread.
// `npx tsx bench/language/steps.mjs [--type Q4_K] [--prompt 256] [--decode 64] [--wasm]`; fp32 is that of safetensors in float32.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { native } from "../../src/backends/native/index.ts";
import { ThreadPool } from "../../src/engine/threads/thread-pool.ts";
import { readManifest } from "../../src/models/index.ts";
import { describeLoad, describeMachine, watchLoad } from "../measuring/machine.mjs";
import { formatTable } from "../measuring/table.mjs";
import { writeRandomFolder, writeRandomModel } from "./random-model.mjs";

const { values } = parseArgs({
  options: {
    type: { type: "string", default: "Q4_K" },
    prompt: { type: "string", default: "256" },
    decode: { type: "string", default: "64" },
    rounds: { type: "string", default: "5" },
    wasm: { type: "boolean", default: false },
  },
});
const folder = mkdtempSync(join(tmpdir(), "inferyard-steps-"));
const path = join(folder, values.type === "fp32" ? "model" : "model.gguf");
let times = new Map();
const { run } = ThreadPool.prototype;
ThreadPool.prototype.run = function timed(kernel, offsets, stride) {
  const before = performance.now();
  const status = run.call(this, kernel, offsets, stride);
  const milliseconds = performance.now() - before;
  const known = times.get(kernel.key) ?? { calls: 0, milliseconds: 0 };
  times.set(kernel.key, { calls: known.calls + 1, milliseconds: known.milliseconds + milliseconds });
  return status;
};
try {
  if (values.type === "fp32") await writeRandomFolder(path);
  else writeRandomModel(path, values.type);
  await measure();
} finally {
  rmSync(folder, { recursive: true });
}

async function measure() {
  const [variant] = (await readManifest(path)).variants;
  const load = watchLoad();
  const settings = values.wasm ? { machineCode: "off" } : {};
  const model = await native(settings).loadLanguage(variant, { type: "cpu", index: 0 }, { threads: 1, engine: settings });
  const tokens = Array.from({ length: Number(values.prompt) }, (_, index) => 300 + ((index * 7919) % 15_000));
  const parts = [[], []];
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    const sequence = await model.createSequence();
    const took = async (part, work) => {
      times = new Map();
      const before = performance.now();
      await work();
      const whole = performance.now() - before;
      if (round > 0) parts[part].push({ whole, times });
    };
    await took(0, () => model.decode([{ sequence, tokens }]));
    await took(1, async () => {
      for (let step = 0; step < Number(values.decode); step += 1)
        await model.decode([{ sequence, tokens: [400 + step], candidates: 1 }]);
    });
    await model.releaseSequence(sequence);
  }
  console.log(`${describeMachine()}; ${describeLoad(load())}`);
  console.log(model.evidence().lines?.join("\n") ?? "");
  for (const [part, name] of [`prompt of ${values.prompt}`, `${values.decode} tokens one by one`].entries()) {
    const best = parts[part].toSorted((a, b) => a.whole - b.whole)[0];
    const sum = [...best.times.values()].reduce((all, { milliseconds }) => all + milliseconds, 0);
    console.log(`\n${name}: ${best.whole.toFixed(1)} ms (best), of which kernels ${sum.toFixed(1)}`);
    const rows = [...best.times]
      .toSorted(([, one], [, other]) => other.milliseconds - one.milliseconds)
      .slice(0, 24)
      .map(([key, { calls, milliseconds }]) => [
        key.slice(0, 150),
        String(calls),
        milliseconds.toFixed(2),
        `${((milliseconds / best.whole) * 100).toFixed(1)} %`,
      ]);
    console.log(formatTable(["kernel", "calls", "ms", "share"], rows));
  }
  await model.dispose();
}
