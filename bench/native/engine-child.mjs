// The program of one engine's process. It is told model and inputs, answers with its first run, then with the times of as many as it is asked for.
import { readFileSync } from "node:fs";
import { decoders } from "./decoders.mjs";

const maxMilliseconds = 10_000; // of one engine in one round, but for a run that has begun

const loaders = {
  native: async (path, threads) => {
    const { native } = await import("inferyard/backends/native");
    const backend = native();
    const file = { format: "onnx", path, bytes: readFileSync(path).length, config: {} };
    const device = { type: "cpu", index: 0 };
    return async () => {
      const model = await backend.load(file, device, { threads });
      const toTensor = ({ type, shape, data }) => ({ dataType: type, shape, data });
      return async (inputs) => await model.run(mapped(inputs, toTensor));
    };
  },
  "onnxruntime-web": async (path, threads) => onnxruntime(await import("onnxruntime-web"), path, threads),
  "onnxruntime-node": async (path, threads) => onnxruntime(await import("onnxruntime-node"), path, threads),
};

function onnxruntime({ InferenceSession, Tensor, env }, path, threads) {
  env.wasm.numThreads = threads;
  const options = { intraOpNumThreads: threads, interOpNumThreads: 1, logSeverityLevel: 4 };
  return async () => {
    const session = await InferenceSession.create(path, options);
    const toTensor = ({ type, shape, data }) => new Tensor(type, data, shape);
    return async (inputs) => await session.run(mapped(inputs, toTensor));
  };
}

function mapped(object, change) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]));
}

process.once("message", async ({ engine, threads, path, inputs, decode }) => {
  try {
    const load = await (decode === undefined ? loaders[engine](path, threads) : decoders[engine](path, threads, decode)); // importing the library is not loading the model
    const started = performance.now();
    const run = await load();
    const loaded = performance.now();
    const outputs = await run(inputs);
    const firstMilliseconds = performance.now() - loaded;
    const parts = decode?.tokens.length || 1;
    const data = mapped(outputs, (output) => output.data);
    process.on("message", async ({ runs }) => {
      const milliseconds = [];
      const end = performance.now() + maxMilliseconds;
      for (let index = 0; index < runs && (index === 0 || performance.now() < end); index += 1) {
        const before = performance.now();
        await run(inputs);
        milliseconds.push((performance.now() - before) / parts);
      }
      process.send({ milliseconds, residentBytes: process.memoryUsage.rss() });
    });
    process.send({ loadMilliseconds: loaded - started, firstMilliseconds: firstMilliseconds / parts, outputs: data });
  } catch (error) {
    process.send({ error: error.message }, () => process.disconnect());
  }
});
