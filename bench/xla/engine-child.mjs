// The program of one engine: it loads one model on one target, runs it once, and then as often as it is asked. A target may run the model in a further
// process, so processor time and memory are those of this process and all it started.
import { createRuntime } from "../measuring/built-package.mjs";
import { memoryOfTree, secondsOfTree } from "../server/process-tree.mjs";

const maxMilliseconds = 10_000; // of one round, but for a run that has begun

process.once("message", async ({ target, threads, path, inputs, tokens }) => {
  try {
    const runtime = await createRuntime({ target, threads });
    const started = performance.now();
    const model = await runtime.load(path, tokens === undefined ? {} : { kind: "language" });
    const loaded = performance.now();
    const run = tokens === undefined ? () => model.run(inputs) : generating(runtime, model, tokens);
    const outputs = await run();
    const firstMilliseconds = performance.now() - loaded;
    process.on("message", async ({ runs }) => process.send(await timed(run, runs)));
    process.once("disconnect", () => void runtime.dispose());
    process.send({
      engine: `${model.target}, ${model.decision.selected.library.name} ${model.decision.selected.library.version}`,
      loadMilliseconds: loaded - started,
      firstMilliseconds,
      compileMilliseconds: model.programs?.compileMs,
      outputs: Object.fromEntries(Object.entries(outputs).map(([name, { data }]) => [name, data])),
    });
  } catch (error) {
    process.send({ error: error.message }, () => process.disconnect());
  }
});

// Greedy tokens behind a prompt; the outputs are the ids.
function generating(runtime, model, { prompt, count }) {
  return async () => {
    const { results } = await runtime.generate([prompt], { model, maxNewTokens: count, ignoreEndTokens: true, temperature: 0 });
    return { tokens: { data: Float32Array.from(results[0].tokens) } };
  };
}

async function timed(run, runs) {
  const milliseconds = [];
  const end = performance.now() + maxMilliseconds;
  const before = secondsOfTree(process.pid);
  while (milliseconds.length < runs && (milliseconds.length === 0 || performance.now() < end)) {
    const started = performance.now();
    await run();
    milliseconds.push(performance.now() - started);
  }
  const seconds = before === undefined ? undefined : secondsOfTree(process.pid) - before;
  return {
    milliseconds,
    processorMilliseconds: seconds === undefined ? undefined : (1000 * seconds) / milliseconds.length,
    residentMegabytes: memoryOfTree(process.pid)?.resident,
  };
}
