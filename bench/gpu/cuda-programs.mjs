// Checks the backend `cuda` of programs on a GPU: `npm run check:cuda [-- RESULT.json]`, or as a part of bench/gpu/check.sh. It needs the GPU's driver, NVRTC and, for its products,
// cuBLAS; about two minutes. It prints, and writes as JSON: what was found, the conformance suite with and without cuBLAS, Mirage's programs at the sizes of its benchmark (median times of a run
// with its copies, beside xla:cuda where there is a plugin), and a program that switches between backends.
import { writeFileSync } from "node:fs";
import { performance } from "node:perf_hooks";
import { compileProgram, cudaPrograms, defineProgram, nativePrograms, ProgramBackends, xlaPrograms } from "inferyard/program";
import { programBackendCases } from "inferyard/testing";
import { miragePrograms, mirageSizes, mirageTensors } from "../programs/mirage-programs.mjs";

const out = process.argv[2];
const integers = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"];
const dataTypes = ["float32", "float64", "float16", "bfloat16", ...integers];
/** Seconds after which no further case of the conformance suite begins. */
const suiteSeconds = 100;

const cuda = cudaPrograms();
const found = await cuda.probe(undefined);
const result = { found, conformance: {}, mirage: [], switching: undefined };
console.log(found.reason);
if (!found.isAvailable) finish(1);

for (const { name, create, floats } of [
  { name: "with cuBLAS", create: () => cuda, floats: ["float32", "float16"] },
  { name: "printed products", create: () => cudaPrograms({ cublas: false }), floats: ["float32"] },
]) {
  const started = performance.now();
  const tally = { passed: 0, left: 0, failed: [] };
  for (const { name: title, run } of programBackendCases({ create, dataTypes, floats, samples: 2 })) {
    if (performance.now() - started > suiteSeconds * 500) tally.left += 1;
    else
      await run().then(
        () => (tally.passed += 1),
        (error) => tally.failed.push(`${title}: ${error.message}`),
      );
  }
  result.conformance[name] = tally;
  console.log(`conformance, ${name}: ${tally.passed} passed, ${tally.failed.length} failed, ${tally.left} not run`);
  for (const failure of tally.failed) console.log(`  ${failure.slice(0, 300)}`);
}

const backends = new ProgramBackends([cuda, nativePrograms(), xlaPrograms()]);
for (const [name, batches] of Object.entries(mirageSizes)) {
  for (const [batch, sizes] of Object.entries(batches)) {
    const program = miragePrograms[name](sizes);
    const row = { name, batch };
    for (const backend of ["cuda", "xla:cuda"]) {
      try {
        const started = performance.now();
        const kernel = await compileProgram(program, { backend, backends, weights: mirageTensors(program.weights, 11, 1 / 16) });
        row[`${backend} compiled`] = performance.now() - started;
        const inputs = mirageTensors(program.inputs, 1, 1 / 16);
        const times = [];
        for (let run = 0; run < 30; run += 1) {
          const begun = performance.now();
          await kernel.run(inputs);
          times.push(performance.now() - begun);
        }
        row[backend] = times.toSorted((a, b) => a - b)[15];
        if (backend === "cuda") row.evidence = kernel.decision.selected.evidence;
        await kernel.dispose();
      } catch (error) {
        row[backend] = error.message.slice(0, 300);
      }
    }
    result.mirage.push(row);
    console.log(JSON.stringify(row));
  }
}

const counter = defineProgram(({ input, state, update, add }) => {
  const total = state("total", [3]);
  const next = add(total, input("x", [3]));
  update(total, next);
  return { y: next };
});
const kernel = await compileProgram(counter, { backend: "cuda", backends });
for (const backend of ["native", "cuda"]) {
  await kernel.run({ x: Float32Array.of(1, 2, 3) });
  await kernel.switchTo(backend);
}
const { total } = await kernel.readStates();
result.switching = [...total.data].join() === "2,4,6" ? "states stay" : `states are ${[...total.data].join()}`;
await kernel.dispose();
console.log(`switching to native and back: ${result.switching}`);
const failures = Object.values(result.conformance).flatMap(({ failed }) => failed);
finish(failures.length === 0 && result.switching === "states stay" ? 0 : 1);

function finish(code) {
  if (out !== undefined) writeFileSync(out, JSON.stringify(result, null, 2));
  process.exit(code);
}
