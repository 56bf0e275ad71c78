/**
 * `npm run bench:switching [-- --runs 5] [--backends native,native:wasm,blas,xla:cpu]`: what a switch costs for each pair of backends, in milliseconds: the whole call, in which runs
 * continue, and the longest wait of a run beside it. The program is a gated MLP of 1024 with a state of 4 MiB.
 */
import { parseArgs } from "node:util";
import { compileProgram, defineProgram, standardProgramBackends } from "inferyard/program";
import { mirageTensors } from "./mirage-programs.mjs";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "5" }, backends: { type: "string", default: "native,native:wasm,blas,xla:cpu" } },
});
const width = 1024;
const backends = standardProgramBackends();
const program = defineProgram(({ input, weight, state, update, matmul, silu, multiply, add }) => {
  const x = input("x", [8, width]);
  const memory = state("memory", [width, width]);
  const y = multiply(silu(matmul(x, weight("gate", [width, width]))), matmul(x, weight("up", [width, width])));
  update(memory, add(memory, 1));
  return { y };
});
const weights = mirageTensors(program.weights, 11);
const inputs = mirageTensors(program.inputs, 1);

const names = [];
for (const name of values.backends.split(",")) {
  const found = backends.resolve(name);
  if (found.backend !== undefined && (await found.backend.probe(found.qualifier)).isAvailable) names.push(name);
}

const median = (list) => list.toSorted((one, other) => one - other)[Math.floor(list.length / 2)];
const rows = [];
for (const from of names)
  for (const to of names.filter((name) => name !== from)) {
    const kernel = await compileProgram(program, { backend: from, weights, backends });
    const [calls, waits] = [[], []];
    let done = 0;
    for (let run = 0; run < Number(values.runs); run += 1) {
      await kernel.run(inputs);
      done += 1;
      const start = performance.now();
      const progress = { isSwitching: true };
      const moved = kernel.switchTo(to).finally(() => void (progress.isSwitching = false));
      let longest = 0;
      while (progress.isSwitching) {
        const asked = performance.now();
        await kernel.run(inputs);
        done += 1;
        longest = Math.max(longest, performance.now() - asked);
      }
      await moved;
      calls.push(performance.now() - start);
      waits.push(longest);
      await kernel.switchTo(from);
    }
    const { memory } = await kernel.readStates();
    const lost = memory.data.every((value) => value === done) ? "none" : `state is ${memory.data[0]}, expected ${done}`;
    rows.push({
      from,
      to,
      "switch ms": median(calls).toFixed(1),
      "longest run ms": median(waits).toFixed(1),
      "lost states": lost,
    });
    await kernel.dispose();
  }
console.table(rows);
