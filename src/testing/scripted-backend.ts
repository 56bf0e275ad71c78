/** A fake backend that behaves as a test specifies and records its calls, for tests of selection and loading. */
import type {
  Availability,
  Backend,
  Capabilities,
  Device,
  LoadOptions,
  TensorModel,
  MachineFacts,
  ModelFiles,
  RunOptions,
} from "../contract/backend.ts";
import { InferyardError, throwIfAborted } from "../contract/errors.ts";
import { type TensorInfo, type TensorMap, checkInputs } from "../contract/tensor.ts";

/** The behaviour of a scripted backend. */
export interface ScriptedBackendOptions {
  /** The answer to probes. Default: an available CPU. */
  readonly availability?: Availability;
  /** Override the defaults: any ONNX model on the calling thread, every precision, every option. */
  readonly capabilities?: Partial<Capabilities>;
  /** Called by each load, which fails if it throws. Default: every load succeeds. */
  readonly onLoad?: (model: ModelFiles, device: Device, options: LoadOptions) => void | Promise<void>;
  /** Computes the outputs of a run. Default: y = x + 1 for the input "x" of shape [2]. */
  readonly onRun?: (inputs: TensorMap) => TensorMap | Promise<TensorMap>;
  /** The evidence of a loaded model, or a function that returns it or throws. Default: ["the script says so"]. */
  readonly evidence?: readonly string[] | ((device: Device) => Promise<readonly string[]>);
}

/** A fake backend without an engine, which records its calls, for tests of selection and loading. */
export interface ScriptedBackend extends Backend {
  /** The calls until now, in order: "probe", "load cpu", "run", "dispose model", "dispose". */
  readonly calls: string[];
}

const vector: readonly TensorInfo[] = [{ name: "x", dataType: "float32", shape: [2] }];

/** Creates a fake backend with this name and the behaviour of `script`. */
export function scriptedBackend(name: string, script: ScriptedBackendOptions = {}): ScriptedBackend {
  const calls: string[] = [];
  const found = (run: boolean): Availability => ({
    present: true,
    library: { name, version: "1.0.0" },
    devices: [{ device: { type: "cpu", index: 0 }, state: run ? "available" : "present", reason: "scripted", milliseconds: 0 }],
  });
  return {
    name,
    contractVersion: 1,
    calls,
    async probe({ run }) {
      calls.push("probe");
      return script.availability ?? found(run);
    },
    capabilities: () => ({
      models: [{ kind: "tensor", format: "onnx", architectures: "any", runsIn: "caller" }],
      precisions: ["fp32", "fp16", "bf16", "int8", "int4"],
      options: [
        "threads",
        "graphOptimization",
        "cpuNodes",
        "memoryPattern",
        "memoryArena",
        "contextLength",
        "allowSmallerContext",
        "cachePrecision",
        "i2sLayout",
        "kernels",
        "tlTiles",
        "adapters",
      ],
      cachePrecisions: ["fp32", "fp16"],
      ...script.capabilities,
    }),
    async load(model, device, options) {
      throwIfAborted(options.signal);
      calls.push(`load ${device.type}`);
      await script.onLoad?.(model, device, options);
      return scriptedModel(name, device, script, calls);
    },
    async dispose() {
      calls.push("dispose");
    },
  };
}

function scriptedModel(name: string, device: Device, script: ScriptedBackendOptions, calls: string[]): TensorModel {
  let disposed = false;
  return {
    kind: "tensor",
    inputs: vector,
    outputs: [{ name: "y", dataType: "float32", shape: [2] }],
    library: { name, version: "1.0.0" },
    memory: { bytes: 8, measure: "allocated" },
    async run(inputs, options: RunOptions = {}) {
      if (disposed) throw new InferyardError("DISPOSED", "this scripted model was disposed");
      throwIfAborted(options.signal);
      checkInputs(vector, inputs);
      calls.push("run");
      return (
        script.onRun?.(inputs) ?? {
          y: { dataType: "float32", shape: [2], data: Float32Array.from(inputs["x"]?.data as Float32Array, (x) => x + 1) },
        }
      );
    },
    async evidence() {
      const { evidence = ["the script says so"] } = script;
      return typeof evidence === "function" ? await evidence(device) : evidence;
    },
    async dispose() {
      if (!disposed) calls.push("dispose model");
      disposed = true;
    },
  };
}

/** Facts of a fake machine for tests: two cores, 8 GB of memory, no accelerator. `over` replaces single facts. */
export function scriptedMachine(over: Partial<MachineFacts> = {}): MachineFacts {
  const source = "scripted";
  return {
    platform: process.platform,
    architecture: process.arch,
    cpu: {
      model: { value: "scripted processor", source },
      features: { value: [], source },
      cores: { value: 2, source },
      quota: { value: 2, source },
    },
    memory: { total: { value: 8e9, source }, available: { value: 6e9, source } },
    accelerators: [],
    absent: { cuda: "no NVIDIA driver on this machine (libcuda.so.1 not found)" },
    ...over,
  };
}
