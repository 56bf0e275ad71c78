// The library without a server: all texts in one call. Told what to do in a message, answers with one and ends.
import { createRuntime } from "../measuring/built-package.mjs";
import { memoryOfTree } from "./process-tree.mjs";

process.once("message", async ({ model, variant, texts, passes }) => {
  const runtime = await createRuntime({ target: "onnx:cpu" });
  const handle = await runtime.load(model, { variant });
  await runtime.embed(texts, { model: handle }); // copies are loaded
  const times = [];
  const cpu = process.cpuUsage();
  for (let pass = 0; pass < passes; pass += 1) {
    const started = performance.now();
    await runtime.embed(texts, { model: handle });
    times.push(performance.now() - started);
  }
  const { user, system } = process.cpuUsage(cpu);
  const cpuMsPerText = (user + system) / 1000 / (texts.length * passes);
  const memory = memoryOfTree(process.pid);
  await runtime.dispose();
  process.send({ textsPerSecond: texts.length / (Math.min(...times) / 1000), cpuMsPerText, memory }, () => process.disconnect());
});
