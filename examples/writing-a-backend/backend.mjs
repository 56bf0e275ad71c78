// A complete backend: linear heads (y = W x + b, such as a classifier over embeddings) from safetensors files, in plain JavaScript.
import { readFile } from "node:fs/promises";
import { InferyardError, checkInputs, checkOutputs, getMessage, throwIfAborted, wrapError } from "inferyard/backend";

const library = { name: "linear-example", version: "1.0.0" };
const cpu = { type: "cpu", index: 0 };
const isCpu = ({ type, index }) => type === "cpu" && index === 0;

/** @returns {import("inferyard/backend").Backend} */
export function linear() {
  return { name: "linear", contractVersion: 1, entry: { module: import.meta.url, export: "linear" }, probe, capabilities, load };
}

/** @type {import("inferyard/backend").Backend["probe"]} */
async function probe({ run }) {
  if (!run) return { present: true, library, devices: [{ device: cpu, state: "present", reason: "part of the example" }] };
  const started = performance.now();
  const [answer] = multiply({ weight: Float32Array.of(2, 3), bias: Float32Array.of(1), features: 2 }, Float32Array.of(10, 100));
  const available = answer === 321;
  const reason = available ? "multiplied 2 numbers rightly" : `2 * 10 + 3 * 100 + 1 gave ${answer}`;
  return {
    present: true,
    library,
    devices: [{ device: cpu, state: available ? "available" : "absent", reason, milliseconds: performance.now() - started }],
  };
}

const heads = { kind: "tensor", format: "safetensors", architectures: ["LinearHead"] };
/** @type {import("inferyard/backend").Backend["capabilities"]} */
const capabilities = (device) => ({ models: isCpu(device) ? [heads] : [], precisions: ["fp32"] });

/** @type {import("inferyard/backend").Backend["load"]} */
async function load(model, device, { signal }) {
  throwIfAborted(signal);
  if (!isCpu(device)) throw new InferyardError("BACKEND_UNAVAILABLE", `linear has no device ${device.type}:${device.index}`);
  if (model.format !== "safetensors") throw new InferyardError("MODEL_UNSUPPORTED", `linear does not run ${model.format}`);
  let layer = await readLayer(model.path);
  throwIfAborted(signal);
  const { weight, bias, features } = layer;
  const inputs = [{ name: "x", dataType: "float32", shape: ["batch", features] }];
  const outputs = [{ name: "y", dataType: "float32", shape: ["batch", bias.length] }];
  return {
    kind: "tensor",
    inputs,
    outputs,
    library,
    memory: { bytes: weight.byteLength + bias.byteLength, measure: "allocated" },
    async run(given, options = {}) {
      if (layer === undefined) throw new InferyardError("DISPOSED", "this linear head was disposed");
      throwIfAborted(options.signal);
      checkInputs(inputs, given);
      checkOutputs(outputs, options.outputs);
      return { y: { dataType: "float32", shape: [given.x.shape[0], bias.length], data: multiply(layer, given.x.data) } };
    },
    evidence: async () => [`linear: ${bias.length} x ${features} float32 in plain JavaScript`],
    async dispose() {
      layer = undefined; // no run is under way: each one ends before it returns to the event loop
    },
  };
}

function multiply({ weight, bias, features }, x) {
  return Float32Array.from({ length: (x.length / features) * bias.length }, (_, at) => {
    const output = at % bias.length;
    const row = ((at - output) / bias.length) * features;
    let sum = bias[output];
    for (let i = 0; i < features; i += 1) sum += weight[output * features + i] * x[row + i];
    return sum;
  });
}

/** safetensors: 8 bytes header length, a JSON header, then the data. `weight` is [outputs, features], `bias` [outputs]. */
async function readLayer(path) {
  const bytes = await readFile(path).catch((error) => {
    throw wrapError(error, "LOAD_FAILED", `${path} cannot be read`);
  });
  try {
    const dataStart = 8 + Number(bytes.readBigUInt64LE(0));
    const header = JSON.parse(bytes.toString("utf8", 8, dataStart));
    const [weight, bias] = ["weight", "bias"].map((name) => {
      const [start, end] = header[name].data_offsets.map((offset) => bytes.byteOffset + dataStart + offset);
      return new Float32Array(bytes.buffer.slice(start, end));
    });
    const [outputs, features] = header.weight.shape;
    if (bias.length !== outputs || weight.length !== outputs * features) throw new Error("weight and bias do not fit together");
    return { weight, bias, features };
  } catch (error) {
    const remedy = "write it with float32 tensors `weight` [outputs, features] and `bias` [outputs]";
    throw new InferyardError("MODEL_INVALID", `${path} is not a linear head: ${getMessage(error)}`, { cause: error, remedy });
  }
}
