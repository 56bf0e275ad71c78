// The program of one child process of knobs.mjs: one configuration on one kind of work. One pass over all inputs to warm up, one measured.
// One thread, and the processor time it took: what else runs on the machine disturbs that least. Resident memory is what the process had more
// at its peak, and at the end, than before the model was loaded.
import { createRequire } from "node:module";
import { createRuntime } from "../measuring/built-package.mjs";
import { miniLm } from "../measuring/shared-data.mjs";
import { mixedLengths } from "../measuring/texts.mjs";

const task = JSON.parse(process.argv[2]);
const shapes = {
  "one text at a time": () => mixedLengths(80).map((length) => [1, length]),
  "batches of 512 tokens": () => batches(512, 20),
  "batches of 4096 tokens": () => batches(4096, 4),
  "two batches of 16 x 256 tokens, then ten short texts": () =>
    [16, 16, ...Array(10).fill(1)].map((rows) => [rows, rows === 1 ? 16 : 256]),
}[task.work]();

function batches(tokens, count) {
  return mixedLengths(count).map((length) => [Math.max(1, Math.floor(tokens / length)), length]);
}

const before = process.memoryUsage().rss;
const { run, close, loads } = task.sessions === undefined ? await throughPackage() : throughSessions();
const inputs = shapes.map(([rows, length]) => tensors(rows, length));
for (const input of inputs) await run(input);
const started = process.cpuUsage();
for (const input of inputs) await run(input);
const { user, system } = process.cpuUsage(started);
const milliseconds = (user + system) / 1000;
const [peak, after] = [process.resourceUsage().maxRSS * 1024, process.memoryUsage().rss].map((bytes) => (bytes - before) / 1e6);
const loaded = loads();
await close();
process.send({ milliseconds, peak, after, loads: loaded }, () => process.disconnect());

function tensors(rows, length) {
  const size = rows * length;
  const tensor = (valueAt) => ({
    dataType: "int64",
    shape: [rows, length],
    data: BigInt64Array.from({ length: size }, (_value, place) => valueAt(place)),
  });
  return {
    input_ids: tensor((place) => BigInt(1000 + ((place * 7919) % 20_000))),
    attention_mask: tensor(() => 1n),
    token_type_ids: tensor(() => 0n),
  };
}

async function throughPackage() {
  const runtime = await createRuntime({ replicas: 1, threads: 1 });
  const model = await runtime.load(miniLm, { target: "onnx:cpu", variant: task.variant, ...task.settings });
  return { run: (input) => model.run(input), close: () => runtime.dispose(), loads: () => 1 };
}

// Our own reading of what Kapsl does: a session for each size of input, dimensions rounded up, and the one unused for longest gives way.
function throughSessions() {
  const { InferenceSession, Tensor } = createRequire(import.meta.url)("onnxruntime-node");
  const path = `${miniLm}/onnx/${task.variant === "int8" ? "model_quantized" : "model"}.onnx`;
  const kept = new Map();
  let count = 0;
  const make = () => {
    count += 1;
    return InferenceSession.create(path, { intraOpNumThreads: 1, interOpNumThreads: 1, logSeverityLevel: 4 });
  };
  const sessionFor = async (shape) => {
    const key = task.granularity === undefined ? "" : shape.map((size) => Math.ceil(size / task.granularity)).join(":");
    const session = kept.get(key) ?? (await make());
    kept.delete(key);
    kept.set(key, session); // a map keeps its order: the one used last is at its end
    const [oldest] = kept.keys();
    if (kept.size > task.sessions) {
      await kept.get(oldest).release();
      kept.delete(oldest);
    }
    return session;
  };
  return {
    async run(input) {
      const session = await sessionFor(input.input_ids.shape);
      const feeds = Object.entries(input).map(([name, { dataType, data, shape }]) => [name, new Tensor(dataType, data, shape)]);
      await session.run(Object.fromEntries(feeds));
    },
    close: () => Promise.all([...kept.values()].map((session) => session.release())),
    loads: () => count,
  };
}
