/**
 * `npm run bench:programs [-- --runs 20] [--only gatedMlp] [--backends native,native:wasm,blas,xla:cpu] [--budget 30s] [--optimize native]`: Mirage's seven programs on each
 * backend that is here, and what `optimize` makes of them on one, with the share of this machine's roofline, beside torch's eager and compiled time on the CPU where Python has
 * torch. All times are medians in milliseconds; the optimized form and the plain one on its backend are run by turns. `--budget 0` leaves it out.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { compileProgram, defineProgram, standardProgramBackends } from "inferyard/program";
import { compileOptimized, describeChanges } from "./optimized.mjs";
import { miragePrograms, mirageSizes, mirageTensors, mirageWork } from "./mirage-programs.mjs";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "20" },
    only: { type: "string" },
    backends: { type: "string", default: "native,native:wasm,blas,xla:cpu" },
    budget: { type: "string", default: "30s" },
    optimize: { type: "string", default: "native" },
  },
});
const runs = Number(values.runs);
const backends = standardProgramBackends();

const getMedian = (times) => times.toSorted((one, other) => one - other)[Math.floor(times.length / 2)];
const getShortest = (times) => Math.min(...times);

/** The time of a run in milliseconds. Inputs are copied to the device and outputs back in each. */
async function time(kernel, inputs, choose) {
  const times = [];
  for (let run = 0; run < runs + 2; run += 1) {
    const start = performance.now();
    await kernel.run(inputs);
    if (run >= 2) times.push(performance.now() - start);
  }
  return choose(times);
}

async function timeProgram(program, weights, inputs, backend, choose = getMedian) {
  try {
    const kernel = await compileProgram(program, { backend, weights, backends });
    const milliseconds = await time(kernel, inputs, choose);
    await kernel.dispose();
    return milliseconds;
  } catch (error) {
    return error.data?.decision?.candidates?.[0]?.reason ?? error.message;
  }
}

/** Median times of the plain and the optimized form on one backend, run by turns, and what was changed. */
async function timeOptimized(program, weights, inputs, backend) {
  try {
    const plain = await compileProgram(program, { backend, weights, backends });
    const { kernel, report } = await compileOptimized(program, { weights, backend, backends, budget: values.budget });
    const isChanged = report.steps.length > 0 || Object.keys(report.settings).length > 0;
    const kernels = isChanged ? [plain, kernel] : [plain];
    const times = [[], []];
    for (let run = 0; run < runs + 2; run += 1)
      for (const [index, each] of kernels.entries()) {
        const start = performance.now();
        await each.run(inputs);
        if (run >= 2) times[index].push(performance.now() - start);
      }
    await Promise.all([plain.dispose(), kernel.dispose()]);
    return { plain: getMedian(times[0]), optimized: getMedian(times[isChanged ? 1 : 0]), changes: describeChanges(report) };
  } catch (error) {
    return error.message;
  }
}

/** The rate of a large product, and the rate at which one row is multiplied by weights that exceed the caches: the best run over all backends, in GFLOP/s and GB/s. */
async function measureMachine(names) {
  const side = 1024;
  const width = 8192;
  const product = defineProgram(({ input, weight, matmul }) => ({
    y: matmul(input("x", [side, side]), weight("w", [side, side])),
  }));
  const stream = defineProgram(({ input, weight, matmul }) => ({
    y: matmul(input("x", [1, width]), weight("w", [width, width])),
  }));
  let [operations, bytes] = [0, 0];
  for (const backend of names) {
    const dense = await timeProgram(
      product,
      mirageTensors(product.weights, 2),
      mirageTensors(product.inputs, 1),
      backend,
      getShortest,
    );
    if (typeof dense === "number") operations = Math.max(operations, (2 * side ** 3) / dense / 1e6);
    const read = await timeProgram(
      stream,
      mirageTensors(stream.weights, 2),
      mirageTensors(stream.inputs, 1),
      backend,
      getShortest,
    );
    if (typeof read === "number") bytes = Math.max(bytes, (4 * width ** 2) / read / 1e6);
  }
  return { operations, bytes };
}

function readTorch() {
  try {
    const script = fileURLToPath(new URL("torch_programs.py", import.meta.url));
    const only = values.only === undefined ? [] : [values.only];
    return JSON.parse(
      execFileSync(process.env.PYTHON ?? "python3", [script, String(runs), ...only], { stdio: ["ignore", "pipe", "ignore"] }),
    );
  } catch {
    return undefined;
  }
}

const names = [];
for (const name of values.backends.split(",")) {
  const { isAvailable, reason } = await describe(name);
  console.log(`${name}: ${reason}`);
  if (isAvailable) names.push(name);
}

async function describe(name) {
  const found = backends.resolve(name);
  return found.backend === undefined ? { isAvailable: false, reason: found.reason } : await found.backend.probe(found.qualifier);
}

const machine = await measureMachine(names);
console.log(
  `roofline: ${machine.operations.toFixed(0)} GFLOP/s, ${machine.bytes.toFixed(1)} GB/s, the best of these backends on products of 1024 x 1024 and 1 x 8192`,
);
const torch = readTorch();
console.log(
  torch === undefined ? "torch: not installed for python3 (set PYTHON)" : `torch ${torch.version}, ${torch.threads} threads`,
);

const rows = [];
for (const [name, create] of Object.entries(miragePrograms)) {
  if (values.only !== undefined && values.only !== name) continue;
  for (const [batch, sizes] of Object.entries(mirageSizes[name])) {
    const program = create(sizes);
    const [inputs, weights] = [mirageTensors(program.inputs, 1), mirageTensors(program.weights, 11, 1 / 32)];
    const { operations, floats } = mirageWork[name](sizes);
    const bound = Math.max(operations / machine.operations, (4 * floats) / machine.bytes) / 1e6;
    const row = { program: `${name}, ${batch}`, roofline: bound.toFixed(2) };
    let best = Number.POSITIVE_INFINITY;
    for (const backend of names) {
      const found = await timeProgram(program, weights, inputs, backend);
      row[backend] = typeof found === "number" ? found.toFixed(2) : found.slice(0, 60);
      if (typeof found === "number") best = Math.min(best, found);
    }
    if (values.budget !== "0") {
      const found = await timeOptimized(program, weights, inputs, values.optimize);
      if (typeof found === "string") row.optimized = found.slice(0, 60);
      else {
        row["plain, by turns"] = found.plain.toFixed(2);
        row.optimized = found.optimized.toFixed(2);
        best = Math.min(best, found.optimized);
        console.log(`${name}, ${batch}: ${found.changes}`);
      }
    }
    row["share of roofline"] = `${((100 * bound) / best).toFixed(0)} %`;
    const peer = torch?.times[`${name}, ${batch}`];
    if (peer !== undefined) {
      row.torch = peer.eager.toFixed(2);
      row.compiled = peer.compiled?.toFixed(2) ?? "none";
      row["of torch"] = (best / Math.min(peer.eager, peer.compiled ?? Number.POSITIVE_INFINITY)).toFixed(2);
    }
    rows.push(row);
    console.log(JSON.stringify(row));
  }
}
console.table(rows);
