import { basename } from "node:path";
import type {
  Availability,
  Backend,
  Capabilities,
  Device,
  DeviceAvailability,
  LoadOptions,
  TensorModel,
  MachineFacts,
  ModelFiles,
  ProbeOptions,
} from "../../contract/backend.ts";
import { InferyardError, getMessage, throwIfAborted, unsupportedModel } from "../../contract/errors.ts";
import { cleanMessage, loadFailure } from "../onnxruntime/failures.ts";
import type { OnnxRuntime } from "../onnxruntime/library.ts";
import { estimateCache } from "../sequences/cache-estimate.ts";
import { SessionModel } from "../onnxruntime/session-model.ts";
import { runTinyGraph, tinyGraphSentence } from "../onnxruntime/tiny-graph.ts";
import { type InstalledPackage, findPackage, importLibrary, missingLibrary, requirement } from "./package.ts";
import { makeProfileFolder, profilingOptions, readEvidence, removeProfileFolder, removeProfilesAtExit } from "./profile.ts";
import { type Provider, getProvider, providers, sessionOptions } from "./providers.ts";
import { disableTelemetry } from "./telemetry.ts";
import { tinyRun } from "./tiny-run.ts";

/** The backend `onnx`: onnxruntime-node. Neither the package nor its library is touched before `probe` or `load`. */
export function onnx(): Backend {
  return {
    name: "onnx",
    contractVersion: 1,
    requires: [requirement],
    entry: { module: new URL("./index.ts", import.meta.url).href, export: "onnx" },
    probe,
    capabilities,
    load,
    loadLanguage: async (model, device, options) => {
      const { loadLanguageModel } = await import("../sequences/load-language-model.ts"); // imported on demand: other models do without it
      return loadLanguageModel(model, options, (part) => load(part, device, options));
    },
    estimateCache: ({ config, precision }) => estimateCache(config, precision === "fp16" ? "fp16" : "fp32", 0),
  };
}

const onnxModels: Capabilities["models"] = [
  { kind: "tensor", format: "onnx", architectures: "any" },
  { kind: "language", format: "onnx", architectures: "any" },
];
const memoryOptions = ["memoryPattern", "memoryArena"] as const;

function capabilities(device: Device): Capabilities {
  const provider = getProvider(device);
  return {
    models: provider === undefined ? [] : onnxModels,
    precisions: provider?.precisions ?? [],
    // Memory: measured on the CPU, where the options are known to act.
    options: [
      "threads",
      "graphOptimization",
      "cpuNodes",
      "contextLength",
      "allowSmallerContext",
      ...(device.type === "cpu" ? memoryOptions : []),
    ],
    // Measured with 1.30 on x64 Linux, on models of 8 to 90 MB: 209 MB for 90, 122 for 23, a process of 46 taken off.
    footprint: { bytes: 40e6, perWeightByte: 1.4 },
  };
}

async function probe(options: ProbeOptions): Promise<Availability> {
  disableTelemetry();
  removeProfilesAtExit();
  const { platform, architecture } = options.machine;
  const installed = findPackage(platform, architecture);
  if (installed === undefined) {
    return { present: false, reason: "onnxruntime-node is not installed", remedy: requirement.install };
  }
  if (installed.binaries === undefined) {
    const reason = `onnxruntime-node ${installed.version} has no binary for ${platform}/${architecture}`;
    return { present: false, reason, library: { name: "onnxruntime-node", version: installed.version } };
  }
  const { version, binaries } = installed;
  const offered = providers.filter(
    (provider) =>
      provider.platforms.includes(`${platform}/${architecture}`) &&
      (provider.isUnpublished !== true || missingLibrary(provider, binaries) === undefined),
  );
  const reports = offered.flatMap((provider) =>
    getDevices(provider, options.machine).map((device) => report(provider, device, installed, options)),
  );
  return {
    present: true,
    library: { name: "onnxruntime-node", version },
    devices: await Promise.all(reports),
  };
}

/** The devices of a provider: each NVIDIA device for CUDA and TensorRT, one device for the others. */
function getDevices(provider: Provider, machine: MachineFacts): Device[] {
  const type = provider.deviceType === "tensorrt" ? "cuda" : provider.deviceType;
  const found = machine.accelerators.filter(({ device }) => device.type === type).map(({ device }) => device.index);
  return (type === "cuda" && found.length > 0 ? found : [0]).map((index) => ({ type: provider.deviceType, index }));
}

async function report(
  provider: Provider,
  device: Device,
  installed: InstalledPackage,
  options: ProbeOptions,
): Promise<DeviceAvailability> {
  const wanted = options.device === undefined || (options.device.type === device.type && options.device.index === device.index);
  const absence = provider.absenceReason?.(options.machine);
  const library = missingLibrary(provider, installed.binaries);
  const remedy =
    absence === undefined && library !== undefined ? { remedy: "npm rebuild onnxruntime-node --ignore-scripts=false" } : {};
  const notInstalled = library === undefined ? undefined : `the provider is not installed (${library} is not beside the binding)`;
  const reasons = [absence, notInstalled].filter((reason) => reason !== undefined);
  const presence = reasons.length === 0 ? undefined : reasons.join("; ");
  const isKnown = presence !== undefined && options.full !== true; // a run would start a process to say the same
  if (!options.run || !wanted || isKnown) {
    return { device, state: presence === undefined ? "present" : "absent", reason: presence ?? "found", ...remedy };
  }
  throwIfAborted(options.signal);
  const run = await tinyRun(device, options.signal);
  const { milliseconds } = run;
  if (run.ok) return { device, state: "available", reason: tinyGraphSentence, milliseconds };
  const reason = [presence, run.reason].filter((part) => part !== undefined).join("; ");
  return { device, state: "absent", reason, milliseconds, ...remedy };
}

async function load(model: ModelFiles, device: Device, options: LoadOptions): Promise<TensorModel> {
  throwIfAborted(options.signal);
  const provider = getProvider(device);
  if (provider === undefined)
    throw new InferyardError("BACKEND_UNAVAILABLE", `onnxruntime-node has no provider for ${device.type}`);
  if (model.format !== "onnx") throw unsupportedModel(`onnx does not run ${model.format}`);
  disableTelemetry();
  const runtime = await importLibrary("fatal");
  const folder = await makeProfileFolder();
  const cleanUp = (): Promise<void> => removeProfileFolder(folder);
  try {
    const known = await knownAnswer(runtime, provider, device);
    const session = await runtime.InferenceSession.create(model.path, {
      ...sessionOptions(provider, device, options),
      ...profilingOptions(folder),
    });
    try {
      throwIfAborted(options.signal);
      return new SessionModel({
        runtime,
        session,
        library: { name: "onnxruntime-node", version: runtime.env.versions["node"] ?? "unknown" },
        weightBytes: model.bytes,
        afterFirstRun: async () => [known, ...(await readEvidence(session, folder, provider, options.cpuNodes))],
        cleanUp,
      });
    } catch (error) {
      await session.release();
      throw error;
    }
  } catch (error) {
    await cleanUp();
    const failure = loadFailure(error, basename(model.path));
    throw failure.code === "LOAD_FAILED" && provider.deviceType !== "cpu" ? await withCause(failure, device) : failure;
  }
}

/**
 * Runs the tiny graph on the device, in the thread that will run the model, and returns a sentence for the evidence. A provider may refuse
 * the graph and still run the model, so a refusal is told, not thrown. Throws VERIFICATION_FAILED for a wrong answer.
 */
async function knownAnswer(runtime: OnnxRuntime, provider: Provider, device: Device): Promise<string> {
  try {
    await runTinyGraph(runtime, sessionOptions(provider, device, { threads: 1 }));
    return tinyGraphSentence;
  } catch (error) {
    if (error instanceof InferyardError) throw error;
    return `the tiny graph with a known answer did not run: ${cleanMessage(getMessage(error))}`;
  }
}

/** Replaces the error by the cause that a run of the tiny graph reports, since the session's own message is unspecific. */
async function withCause(failure: InferyardError, device: Device): Promise<InferyardError> {
  const run = await tinyRun(device);
  if (run.ok) return failure;
  return new InferyardError("BACKEND_UNAVAILABLE", `onnxruntime-node cannot start ${device.type}: ${run.reason}`, {
    cause: failure,
  });
}
