// One contender in a process of its own: it loads the model it is told, and then generates behind prompts, one message after another.
import { join } from "node:path";

const heads = 12;
const depth = 64;

// Each gives a function from prompts and a number of tokens to the generated tokens of each, and the times of the first and of the last token.
const contenders = {
  "inferyard native": (folder, threads) => inferyard(folder, "native", threads),
  "inferyard onnx": (folder, threads) => inferyard(folder, "onnx:cpu", threads),
  "transformers.js": transformersJs,
  "onnxruntime-node": byHand,
};

async function inferyard(folder, target, threads) {
  const { createRuntime } = await import("inferyard");
  const runtime = await createRuntime({ target, threads, host: "inline" });
  const model = await runtime.load(folder, { kind: "language" });
  return async (prompts, count) => {
    const options = { model, maxNewTokens: count, ignoreEndTokens: true, stream: true };
    const started = performance.now();
    const stream = await runtime.generate(prompts, options);
    // Of several texts, when the last of them has its first token.
    const begun = new Set();
    let first;
    for await (const { index, type } of stream) {
      if (type !== "text" || begun.has(index)) continue;
      begun.add(index);
      first = performance.now() - started;
    }
    const { results } = await stream.result;
    return { first, all: performance.now() - started, tokens: results.map(({ tokens }) => tokens) };
  };
}

async function transformersJs(folder, threads) {
  const { AutoModelForCausalLM, Tensor, readModelsFrom } = await import("../peers/transformers-js.mjs");
  readModelsFrom(join(folder, ".."));
  const options = { dtype: "fp32", device: "cpu", session_options: { intraOpNumThreads: threads, interOpNumThreads: 1 } };
  const model = await AutoModelForCausalLM.from_pretrained(folder.split("/").at(-1), options);
  return async ([prompt], count) => {
    const tensor = (values) => new Tensor("int64", BigInt64Array.from(values, BigInt), [1, prompt.length]);
    let seen = 0;
    let first;
    const started = performance.now();
    const streamer = {
      put: () => {
        seen += 1; // the prompt comes first
        if (seen === 2) first = performance.now() - started;
      },
      end: () => {},
    };
    const inputs = { input_ids: tensor(prompt), attention_mask: tensor(prompt.map(() => 1)) };
    const output = await model.generate({ ...inputs, max_new_tokens: count, do_sample: false, eos_token_id: -1, streamer });
    const all = performance.now() - started;
    return { first, all, tokens: [Array.from(output.data, Number).slice(prompt.length)] };
  };
}

// As its users write it: what comes out as `present` goes in as the past.
async function byHand(folder, threads) {
  const { InferenceSession, Tensor } = await import("onnxruntime-node");
  const session = await InferenceSession.create(join(folder, "onnx/model.onnx"), {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
  });
  const pastNames = session.inputNames.filter((name) => name.startsWith("past_key_values"));
  return async ([prompt], count) => {
    const started = performance.now();
    let past = Object.fromEntries(pastNames.map((name) => [name, new Tensor("float32", [], [1, heads, 0, depth])]));
    let next = prompt;
    let length = 0;
    let first;
    const tokens = [];
    while (tokens.length < count) {
      const int64 = (values) => new Tensor("int64", BigInt64Array.from(values, BigInt), [1, values.length]);
      const start = length;
      length += next.length;
      const outputs = await session.run({
        input_ids: int64(next),
        attention_mask: int64(Array.from({ length }, () => 1)),
        position_ids: int64(next.map((_, index) => start + index)),
        ...past,
      });
      const { data, dims } = outputs.logits;
      const last = data.subarray(data.length - dims[2]);
      let token = 0;
      for (let id = 1; id < last.length; id += 1) if (last[id] > last[token]) token = id;
      tokens.push(token);
      first ??= performance.now() - started;
      next = [token];
      past = Object.fromEntries(pastNames.map((name) => [name, outputs[name.replace("past_key_values", "present")]]));
    }
    return { first, all: performance.now() - started, tokens: [tokens] };
  };
}

const [name, folder, threads] = process.argv.slice(2);
const started = performance.now();
const generate = await contenders[name](folder, Number(threads));
process.send({ load: performance.now() - started });
process.on("message", async ({ prompts, count }) => {
  const result = await generate(prompts, count);
  process.send({ ...result, bytes: process.memoryUsage.rss(), peak: process.resourceUsage().maxRSS * 1024 });
});
process.on("disconnect", () => process.exit());
