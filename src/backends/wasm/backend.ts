import { omitUndefined } from "../../contract/checked.ts";
import { unusablePackage } from "../../contract/availability.ts";
import type {
  Availability,
  Backend,
  Capabilities,
  Device,
  LoadOptions,
  TensorModel,
  ModelFiles,
  ProbeOptions,
} from "../../contract/backend.ts";
import { InferyardError, getMessage, throwIfAborted, unsupportedModel } from "../../contract/errors.ts";
import { basename } from "../../platform/node/paths.ts";
import { loadFailure } from "../onnxruntime/failures.ts";
import { estimateCache } from "../sequences/cache-estimate.ts";
import { SessionModel } from "../onnxruntime/session-model.ts";
import type { OnnxRuntime } from "../onnxruntime/library.ts";
import { runTinyGraph, tinyGraphSentence } from "../onnxruntime/tiny-graph.ts";
import { type WasmOptions, requirement } from "./engine-options.ts";
import { computationNotes, graphSource, importLibrary, installedVersion } from "./package.ts";

const tinyGraphOptions = { executionProviders: ["wasm"] };
const cpu: Device = { type: "cpu", index: 0 };
const onnxModels: Capabilities["models"] = [
  { kind: "tensor", format: "onnx", architectures: "any", runsIn: "interruptible-thread" },
  { kind: "language", format: "onnx", architectures: "any", runsIn: "interruptible-thread" },
];

/** The backend `wasm`: onnxruntime-web. The package is not touched before `probe` or `load`. */
export function wasm(options: WasmOptions = {}): Backend {
  return {
    name: "wasm",
    contractVersion: 1,
    requires: [requirement],
    entry: { module: new URL("./index.ts", import.meta.url).href, export: "wasm", options },
    probe: (asked) => probe(asked, options),
    capabilities,
    load: (model, device, asked) => load(model, device, { ...asked, ...options }),
    loadLanguage: async (model, device, asked) => {
      const { loadLanguageModel } = await import("../sequences/load-language-model.ts"); // imported on demand: other models do without it
      return loadLanguageModel(model, asked, (part) => load(part, device, { ...asked, ...options }));
    },
    estimateCache: ({ config, precision }) => estimateCache(config, precision === "fp16" ? "fp16" : "fp32", 0),
  };
}

function capabilities(device: Device): Capabilities {
  return {
    models: device.type === "cpu" ? onnxModels : [],
    precisions: ["fp32", "fp16", "int8", "int4"],
    options: ["threads", "graphOptimization", "cpuNodes", "contextLength", "allowSmallerContext"],
    // Measured with 1.30 on x64 Linux: 616 MB for 90 MB of weights, 337 for 23, a process of 46 taken off.
    footprint: { bytes: 195e6, perWeightByte: 4.2 },
  };
}

async function probe(options: ProbeOptions, engine: WasmOptions): Promise<Availability> {
  const version = await installedVersion();
  if (version === undefined) return { present: false, reason: "onnxruntime-web is not installed", remedy: requirement.install };
  const library = { name: "onnxruntime-web", version };
  if (!options.run) return { present: true, library, devices: [{ device: cpu, state: "present", reason: "found" }] };
  throwIfAborted(options.signal);
  const started = performance.now();
  const failure = await tinyGraphFailure(engine);
  const milliseconds = performance.now() - started;
  const reason = failure ?? tinyGraphSentence;
  return {
    present: true,
    library,
    devices: [{ device: cpu, state: failure === undefined ? "available" : "absent", reason, milliseconds }],
  };
}

async function tinyGraphFailure(engine: WasmOptions): Promise<string | undefined> {
  try {
    await runTinyGraph(await openLibrary(1, engine), tinyGraphOptions);
    return undefined;
  } catch (error) {
    return getMessage(error);
  }
}

/** Loads the library and sets its options, which the first session reads. Throws BACKEND_UNAVAILABLE. */
async function openLibrary(threads: number, { assets }: WasmOptions): Promise<OnnxRuntime> {
  try {
    const runtime = await importLibrary(threads);
    runtime.env.logLevel = "fatal";
    if (assets !== undefined) runtime.env.wasm.wasmPaths = assets;
    return runtime;
  } catch (error) {
    throw unusablePackage(requirement, `could not be loaded: ${getMessage(error)}`, error);
  }
}

async function load(model: ModelFiles, device: Device, options: LoadOptions & WasmOptions): Promise<TensorModel> {
  throwIfAborted(options.signal);
  if (device.type !== "cpu") throw new InferyardError("BACKEND_UNAVAILABLE", `wasm runs on cpu, not on ${device.type}`);
  if (model.format !== "onnx") throw unsupportedModel(`wasm does not run ${model.format}`);
  const runtime = await openLibrary(options.threads ?? 1, options);
  const version = runtime.env.versions["web"] ?? "unknown";
  try {
    await runTinyGraph(runtime, tinyGraphOptions);
    const { graph, externalData } = await graphSource(model.path);
    const session = await runtime.InferenceSession.create(graph, {
      ...omitUndefined({ externalData }),
      executionProviders: ["wasm"],
      graphOptimizationLevel: options.graphOptimization ?? "all",
      logSeverityLevel: 4,
    });
    try {
      throwIfAborted(options.signal);
      return new SessionModel({
        runtime,
        session,
        library: { name: "onnxruntime-web", version },
        weightBytes: model.bytes,
        afterFirstRun: async () => [
          tinyGraphSentence,
          `onnxruntime-web ${version} ran it in WebAssembly, the only provider of this build`,
          ...computationNotes(runtime.env),
        ],
      });
    } catch (error) {
      await session.release();
      throw error;
    }
  } catch (error) {
    throw loadFailure(error, basename(model.path));
  }
}
