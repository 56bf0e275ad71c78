// The checks of check.sh, on the GPU machine: `node check.mjs WORK RESULT`, where WORK is the unpacked folder of prepare.mjs. Writes JSON,
// { gpu, driver, plugin, checks: [{ name, passed, detail }], milliseconds }, and prints it. Ends with 1 where a check failed.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { createRuntime } from "inferyard";
import { median } from "../measuring/statistics.mjs";

const [, , work, resultPath] = process.argv;
const plugin = process.env.PJRT_PLUGIN_LIBRARY_PATH;
const target = "xla:cuda";
const miniLM = join(work, "data/all-MiniLM-L6-v2");
const shapes = ["1x16", "1x128", "32x128"];
const shards = 8;
const checks = [];
const milliseconds = {};
const run = promisify(execFile);
const large = { maxBuffer: 1 << 26 };

// Runs a check that returns a sentence; its error is the detail of a check that failed.
async function check(name, work) {
  const start = performance.now();
  try {
    const detail = await work();
    checks.push({ name, passed: true, detail });
  } catch (error) {
    checks.push({ name, passed: false, detail: String(error?.message ?? error).slice(0, 2000) });
  }
  const { passed, detail } = checks.at(-1);
  process.stderr.write(
    `${passed ? "passed" : "FAILED"}  ${name} (${Math.round((performance.now() - start) / 1000)} s): ${detail}\n`,
  );
}

async function nvidiaSmi(query) {
  const { stdout } = await run("nvidia-smi", [query, "--format=csv,noheader,nounits"]);
  return stdout.trim();
}

function requireThat(condition, message) {
  if (!condition) throw new Error(message);
}

function tokens(batch, length) {
  const count = batch * length;
  const shape = [batch, length];
  const data = (valueAt) => BigInt64Array.from({ length: count }, (_, index) => BigInt(valueAt(index)));
  return {
    input_ids: { dataType: "int64", shape, data: data((index) => 1000 + (index % 1000)) },
    attention_mask: { dataType: "int64", shape, data: data(() => 1) },
    token_type_ids: { dataType: "int64", shape, data: data(() => 0) },
  };
}

const [gpu = "", driver = ""] = (await nvidiaSmi("--query-gpu=name,driver_version")).split(", ");

await check("probe", async () => {
  const { stdout } = await run(
    process.execPath,
    [join(work, "node_modules/inferyard/bin/inferyard.js"), "doctor", "--json"],
    large,
  );
  const text = stdout.slice(stdout.indexOf("{"));
  requireThat(text.includes("xla"), "doctor does not name xla");
  const found = /a tiny program gives the right answers on ([^"]*)/.exec(text);
  requireThat(found !== null, `no tiny program ran: ${text.slice(0, 1500)}`);
  return found[0];
});

await check("proof of the device", async () => {
  const before = await nvidiaSmi("--query-gpu=memory.used");
  const runtime = await createRuntime({ target });
  try {
    const { decision, target: used } = await runtime.embed(["hello"], { model: miniLM });
    const after = await nvidiaSmi("--query-gpu=memory.used");
    requireThat(Number(after) > Number(before), `the memory of the GPU did not grow: ${before} to ${after} MiB`);
    requireThat(used.startsWith("xla:cuda"), `it runs on ${used}`);
    return `${used}; memory of the GPU ${before} to ${after} MiB; ${decision.selected.evidence.join("; ")}`;
  } finally {
    await runtime.dispose();
  }
});

await check("goldens", async () => {
  const models = (await run("ls", [join(work, "data")])).stdout.trim().split("\n");
  const lines = [];
  const next = async () => {
    for (let model = models.pop(); model !== undefined; model = models.pop()) {
      const args = [join(work, "goldens.mjs"), "--data", join(work, "data", model), "--target", target];
      const { stdout } = await run(process.execPath, args, large).catch((error) => error);
      lines.push(
        ...String(stdout)
          .trim()
          .split("\n")
          .slice(0, -1)
          .map((line) => `${model} ${line.trim()}`),
      );
      process.stderr.write(`${lines.at(-1)}\n`);
    }
  };
  await Promise.all(Array.from({ length: 6 }, next));
  const failed = lines.filter((line) => !line.endsWith("passed"));
  requireThat(failed.length === 0, failed.join("\n"));
  return `${lines.length} models hold their goldens`;
});

await check("conformance", async () => {
  const results = await Promise.all(
    Array.from({ length: shards }, async (_, index) => {
      const args = [join(work, "conformance.mjs"), plugin, join(work, "onnx-conformance"), String(index), String(shards)];
      const { stdout } = await run(process.execPath, args, large);
      return JSON.parse(stdout.trim().split("\n").at(-1));
    }),
  );
  const sum = (name) => results.reduce((total, result) => total + result[name], 0);
  const wrong = results.flatMap((result) => result.wrong);
  const [passed, refused] = [sum("passed"), sum("refused")];
  requireThat(wrong.length === 0, `${wrong.length} wrong: ${wrong.join("; ")}`);
  requireThat(passed / (passed + refused) > 0.75, `only ${passed} of ${passed + refused} pass`);
  return `${passed} passed, ${refused} refused, 0 wrong`;
});

await check("milliseconds", async () => {
  const runtime = await createRuntime({ target });
  try {
    const handle = await runtime.load(miniLM);
    const outputs = { outputs: ["last_hidden_state"] };
    for (const shape of shapes) {
      const [batch, length] = shape.split("x").map(Number);
      const inputs = tokens(batch, length);
      const times = [];
      for (let index = 0; index < 61; index += 1) {
        const start = performance.now();
        await handle.run(inputs, outputs);
        times.push(performance.now() - start);
      }
      milliseconds[`MiniLM ${shape} first run`] = times[0];
      milliseconds[`MiniLM ${shape}`] = median(times.slice(11));
    }
    await handle.dispose();
  } finally {
    await runtime.dispose();
  }
  const { stdout } = await run("python3", [join(work, "bench/gpu/torch-times.py"), miniLM, ...shapes], large);
  for (const [shape, time] of Object.entries(JSON.parse(stdout.trim().split("\n").at(-1)))) milliseconds[`torch ${shape}`] = time;
  return shapes
    .map((shape) => `${shape} ${(milliseconds[`MiniLM ${shape}`] / milliseconds[`torch ${shape}`]).toFixed(2)} of torch`)
    .join(", ");
});

const result = { gpu, driver, plugin, checks, milliseconds };
writeFileSync(resultPath, `${JSON.stringify(result, undefined, 2)}\n`);
process.stdout.write(`${JSON.stringify(result)}\n`);
process.exit(checks.every(({ passed }) => passed) ? 0 : 1);
