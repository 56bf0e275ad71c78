import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import type {
  Availability,
  Backend,
  Capabilities,
  Device,
  LoadOptions,
  LoadedModel,
  ModelFiles,
  ProbeOptions,
  Requirement,
} from "../../backend.ts";
import { InferyardError, messageOf, throwIfAborted } from "../../errors.ts";
import { loadFailure } from "../onnxruntime/failures.ts";
import type { OnnxRuntime } from "../onnxruntime/library.ts";
import { SessionModel } from "../onnxruntime/session-model.ts";
import { tinyAnswer, tinyGraph, tinyInput } from "../onnxruntime/tiny-graph.ts";

const requirement: Requirement = {
  kind: "package",
  name: "onnxruntime-web",
  range: ">=1.24 <2",
  install: "npm install onnxruntime-web",
};
const cpu: Device = { type: "cpu", index: 0 };

/** onnxruntime-web as a backend. Nothing of the package is touched until `probe` or `load`. */
export function wasm(): Backend {
  return {
    name: "wasm",
    contractVersion: 1,
    requires: [requirement],
    entry: { module: import.meta.url, export: "wasm" },
    probe,
    capabilities,
    load,
  };
}

function capabilities(device: Device): Capabilities {
  return {
    formats: device.type === "cpu" ? { onnx: "any" } : {},
    precisions: ["fp32", "fp16", "int8", "int4"],
    options: ["threads", "graphOptimization", "cpuNodes"],
    // Measured with 1.30 on x64 Linux: 616 MB for 90 MB of weights, 337 for 23, a process of 46 taken off.
    footprint: { bytes: 195e6, perWeightByte: 4.2 },
    blocking: true,
  };
}

async function probe(options: ProbeOptions): Promise<Availability> {
  const version = installedVersion();
  if (version === undefined) return { present: false, reason: "onnxruntime-web is not installed", remedy: requirement.install };
  const library = { name: "onnxruntime-web", version };
  if (!options.run) return { present: true, library, devices: [{ device: cpu, available: true, reason: "not run yet" }] };
  throwIfAborted(options.signal);
  const started = performance.now();
  const failure = await runTinyGraph();
  const milliseconds = performance.now() - started;
  const reason = failure ?? "ran a tiny graph with the right answer";
  return { present: true, library, devices: [{ device: cpu, available: failure === undefined, reason, milliseconds }] };
}

/** undefined when the package is not installed. Its exports hide package.json, so it is found through its entry. */
function installedVersion(): string | undefined {
  try {
    const entry = createRequire(import.meta.url).resolve("onnxruntime-web");
    return (JSON.parse(readFileSync(join(dirname(entry), "..", "package.json"), "utf8")) as { version: string }).version;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "MODULE_NOT_FOUND") return undefined;
    throw new InferyardError("BACKEND_UNAVAILABLE", `onnxruntime-web is installed but damaged: ${messageOf(error)}`, {
      cause: error,
      remedy: requirement.install,
    });
  }
}

async function importLibrary(threads: number): Promise<OnnxRuntime> {
  try {
    const runtime = (await import("onnxruntime-web")) as OnnxRuntime;
    runtime.env.logLevel = "fatal";
    runtime.env.wasm.numThreads = threads; // read when the first session starts the module
    return runtime;
  } catch (error) {
    throw new InferyardError("BACKEND_UNAVAILABLE", `onnxruntime-web could not be loaded: ${messageOf(error)}`, {
      cause: error,
      remedy: requirement.install,
    });
  }
}

async function runTinyGraph(): Promise<string | undefined> {
  try {
    const runtime = await importLibrary(1);
    const session = await runtime.InferenceSession.create(Uint8Array.from(Buffer.from(tinyGraph, "base64")), {
      executionProviders: ["wasm"],
    });
    const { y } = await session.run({ x: new runtime.Tensor("float32", Float32Array.from(tinyInput), [2, 2]) });
    await session.release();
    const answer = Array.from((y?.data ?? []) as ArrayLike<number>);
    return answer.every((value, index) => value === tinyAnswer[index]) ? undefined : `wrong answer [${answer.join(", ")}]`;
  } catch (error) {
    return messageOf(error);
  }
}

async function load(model: ModelFiles, device: Device, options: LoadOptions): Promise<LoadedModel> {
  throwIfAborted(options.signal);
  if (device.type !== "cpu") throw new InferyardError("BACKEND_UNAVAILABLE", `wasm runs on cpu, not on ${device.type}`);
  if (model.format !== "onnx") throw new InferyardError("MODEL_UNSUPPORTED", `wasm does not run ${model.format}`);
  const runtime = await importLibrary(options.threads ?? 1);
  const version = runtime.env.versions["web"] ?? "unknown";
  try {
    const session = await runtime.InferenceSession.create(model.path, {
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
        afterFirstRun: async () => [`onnxruntime-web ${version} ran it in WebAssembly, the only provider of this build`],
      });
    } catch (error) {
      await session.release();
      throw error;
    }
  } catch (error) {
    throw loadFailure(error, basename(model.path));
  }
}
