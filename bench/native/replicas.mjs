// What replicas of a model on threads cost on our own engine: `npm run bench:replicas`. MiniLM three times: fp32, int8, and fp16 from safetensors, each in
// a process of its own. The first replica has two threads, the others one, as bulk work on two cores has them. Memory is the process's proportional
// set (Linux), above what it was before; load time is the processor's. Ends with 1 if replicas do not give the same bits. `-- --alone` has them share
// nothing.
import { native } from "inferyard/backends/native";
import { fork } from "node:child_process";
import { once } from "node:events";
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import "../measuring/built-package.mjs";
import { describeMachine } from "../measuring/machine.mjs";
import { readOptions } from "../measuring/options.mjs";
import { miniLm } from "../measuring/shared-data.mjs";
import { formatTable } from "../measuring/table.mjs";

const replicas = 4;
const models = [
  ["fp32", "onnx/model.onnx"],
  ["int8", "onnx/model_quantized.onnx"],
  ["fp16, safetensors", "model.safetensors"],
];
const shapes = [
  [1, 7],
  [1, 16],
  [4, 128],
  [3, 33],
];

const { alone = false, single } = readOptions({
  alone: { type: "boolean" },
  single: { type: "string" }, // the model with this number, in this process
});

if (single === undefined) {
  console.log(describeMachine());
  const rows = [];
  for (const number of models.keys()) {
    const child = fork(new URL(import.meta.url), [`--single=${number}`, ...(alone ? ["--alone"] : [])]);
    const [row] = await once(child, "message");
    rows.push(row);
  }
  const titles = Array.from({ length: replicas }, (_, index) => [`load ${index + 1}, ms`, `MB`]).flat();
  console.log(formatTable(["model", ...titles, "MB after runs", "engine's MB", "bits"], rows));
  process.exitCode = rows.every((row) => row.at(-1) === "same") ? 0 : 1;
} else process.send(await measured(models[Number(single)]));

async function measured([name, file]) {
  const sources = new URL("../../src/", import.meta.url);
  const [{ workerHost }, { ReplicaGroup }, { unsupervised }] = await Promise.all(
    ["hosts/worker.ts", "hosts/replica-group.ts", "hosts/supervision.ts"].map((path) => import(new URL(path, sources).href)),
  );
  const host = workerHost(new URL("../../dist/model-thread.js", import.meta.url));
  const path = join(miniLm, file);
  const format = file.endsWith(".onnx") ? "onnx" : "safetensors";
  const config = JSON.parse(readFileSync(join(miniLm, "config.json"), "utf8"));
  const model = { format, path, bytes: statSync(path).size, architecture: "BertModel", config };
  const group = alone ? undefined : new ReplicaGroup();
  const before = residentMegabytes();
  const loaded = [];
  const row = [name];
  for (let index = 0; index < replicas; index += 1) {
    const start = process.cpuUsage();
    const settings = { threads: index === 0 ? 2 : 1 };
    loaded.push(await host.load("tensor", native(), model, { type: "cpu", index: 0 }, settings, unsupervised, group));
    const { user, system } = process.cpuUsage(start);
    row.push(Math.round((user + system) / 1000), Math.round(residentMegabytes() - before));
  }
  const bits = [];
  for (const each of loaded) bits.push(await bitsOf(each));
  const engine = loaded.map(({ memory }) => (memory.bytes / 1e6).toFixed(1));
  row.push(Math.round(residentMegabytes() - before), engine.join(" + "), new Set(bits).size === 1 ? "same" : "DIFFERENT");
  await Promise.all(loaded.map((each) => each.dispose()));
  return row;
}

async function bitsOf(model) {
  const hash = createHash("sha256");
  for (const [rows, length] of shapes) {
    const count = rows * length;
    const tensor = (data) => ({ dataType: "int64", shape: [rows, length], data });
    const ids = BigInt64Array.from({ length: count }, (_, index) => BigInt(1000 + ((index * 37) % 20_000)));
    const inputs = {
      input_ids: tensor(ids),
      attention_mask: tensor(new BigInt64Array(count).fill(1n)),
      token_type_ids: tensor(new BigInt64Array(count)),
    };
    const outputs = await model.run(inputs);
    for (const output of Object.values(outputs)) hash.update(new Uint8Array(output.data.buffer));
  }
  return hash.digest("hex");
}

function residentMegabytes() {
  const [, kilobytes] = /^Pss:\s+(\d+)/m.exec(readFileSync("/proc/self/smaps_rollup", "utf8"));
  return Number(kilobytes) / 1000;
}
