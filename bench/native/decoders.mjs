// Decoding token by token behind a prompt: our engine with its cache, onnxruntime with the past as tensors that go out and in again.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { Worker } from "node:worker_threads";

// Each gives a function that decodes the tokens behind the prompt and gives the logits after the last.
export const decoders = {
  native: async (path, threads, work) => {
    const { detectWasmFeatures, EngineModel, onnxSource, readOnnxModel } = await import("../../src/engine/index.ts");
    const { enableRelaxedSimd } = await import("../../src/engine/codegen/wasm/v8-flags.ts");
    const { threadHandle } = await import("../../src/engine/threads/spawn-node-thread.ts");
    const spawnThread = () => threadHandle(new Worker(new URL("../../dist/engine-thread.js", import.meta.url)), console.error);
    return async () => {
      const { model } = readOnnxModel(readFileSync(path), basename(path));
      const engine = new EngineModel(onnxSource(model), {
        features: detectWasmFeatures(enableRelaxedSimd),
        threads,
        spawnThread,
        machineCode: await machineCode(),
      });
      const inputs = model.graph.inputs.map(({ name, type }) => ({ name, dataType: type.dataType, shape: type.shape }));
      const sequences = await engine.sequences(inputs, { maxTokens: work.capacity });
      const sequence = await sequences.create();
      await sequences.decode([{ sequence, tokens: work.prompt, logits: 1 }]);
      return async () => {
        await sequences.truncate(sequence, work.tokens.length === 0 ? 0 : work.prompt.length);
        let logits;
        if (work.tokens.length === 0) [logits] = await sequences.decode([{ sequence, tokens: work.prompt, logits: 1 }]);
        for (const token of work.tokens) [logits] = await sequences.decode([{ sequence, tokens: [token], logits: 1 }]);
        return { logits: { data: logits } };
      };
    };
  },
  "onnxruntime-web": async (path, threads, work) => onnxruntime(await import("onnxruntime-web"), path, threads, work),
  "onnxruntime-node": async (path, threads, work) => onnxruntime(await import("onnxruntime-node"), path, threads, work),
};

// As a loaded model has it: undefined where this machine has none.
async function machineCode() {
  const { openMachineCode } = await import("../../src/backends/native/machine-code/machine-code.ts");
  try {
    return openMachineCode().create();
  } catch {
    return undefined;
  }
}

function onnxruntime({ InferenceSession, Tensor, env }, path, threads, work) {
  env.wasm.numThreads = threads;
  const options = { intraOpNumThreads: threads, interOpNumThreads: 1, logSeverityLevel: 4 };
  const whole = (values) => new Tensor("int64", BigInt64Array.from(values, BigInt), [1, values.length]);
  return async () => {
    const session = await InferenceSession.create(path, options);
    const names = session.inputNames.filter((name) => name.startsWith("past"));
    const step = async (tokens, past, length) => {
      const results = await session.run({
        input_ids: whole(tokens),
        attention_mask: whole(Array.from({ length: length + tokens.length }, () => 1)),
        position_ids: whole(tokens.map((_, index) => length + index)),
        ...past,
      });
      const cache = Object.fromEntries(names.map((name) => [name, results[name.replace("past_key_values", "present")]]));
      return { logits: results.logits, past: cache };
    };
    const empty = new Tensor("float32", new Float32Array(), [1, work.cacheHeads, 0, work.cacheDepth]);
    const readPrompt = () => step(work.prompt, Object.fromEntries(names.map((name) => [name, empty])), 0);
    const prompt = await readPrompt();
    return async () => {
      if (work.tokens.length === 0) {
        const { logits: all } = await readPrompt();
        return { logits: { data: all.data.slice(-all.dims.at(-1)) } };
      }
      let { past } = prompt;
      let logits;
      for (const [index, token] of work.tokens.entries())
        ({ logits, past } = await step([token], past, work.prompt.length + index));
      return { logits };
    };
  };
}
