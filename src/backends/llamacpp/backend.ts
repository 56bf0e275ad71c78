import type {
  Availability,
  Backend,
  Capabilities,
  Device,
  DeviceAvailability,
  LanguageModel,
  LanguageModelFiles,
  LoadOptions,
  ModelFiles,
  ProbeOptions,
  TensorModel,
} from "../../contract/backend.ts";
import { throwIfAborted, unsupportedModel } from "../../contract/errors.ts";
import { runReportingChild } from "../../platform/node/report-child.ts";
import { llamaDeviceTypes, getGpu } from "./devices.ts";
import { LlamaBuilds, hasBuild, installedVersion, requirement } from "./package.ts";
import { estimateLlamaMemory } from "../gguf/memory.ts";
import type { TinyRunRequest } from "./tiny-run-child.ts";

/** The backend `llamacpp`: llama.cpp through node-llama-cpp. Neither the package nor its library is touched before `probe` or `load`. */
export function llamacpp(): Backend {
  const builds = new LlamaBuilds();
  return {
    name: "llamacpp",
    contractVersion: 1,
    requires: [requirement],
    entry: { module: new URL("./index.ts", import.meta.url).href, export: "llamacpp" },
    probe,
    capabilities,
    load: (model, device, options) => load(model, device, options, builds),
    loadLanguage: (model, device, options) => loadLanguage(model, device, options, builds),
    estimateCache: (model, _device, settings) => estimateLlamaMemory(model, settings),
    dispose: () => builds.dispose(),
  };
}

// A damaged file can abort the process (7 of 150 mutated files did).
const ggufModels: Capabilities["models"] = [
  { kind: "tensor", format: "gguf", architectures: "any", runsIn: "process" },
  { kind: "language", format: "gguf", architectures: "any", runsIn: "process" },
];

function capabilities(device: Device): Capabilities {
  const isKnown = getGpu(device) !== undefined;
  return {
    models: isKnown ? ggufModels : [],
    precisions: isKnown ? ["fp32", "fp16", "bf16", "int8", "int4"] : [],
    options: ["threads", "cpuNodes", "contextLength", "allowSmallerContext", "cachePrecision", "adapters"],
    cachePrecisions: ["fp16", "fp32"],
    // Measured with 3.22.1 on x64 Linux, a process of 46 MB taken off: 249 MB for a language model of 117 MB with its caches, 160 MB for an encoder of 46 MB.
    footprint: { bytes: 110e6, perWeightByte: 1.1 },
  };
}

async function probe(options: ProbeOptions): Promise<Availability> {
  const { platform, architecture } = options.machine;
  const version = installedVersion();
  if (version === undefined) return { present: false, reason: "node-llama-cpp is not installed", remedy: requirement.install };
  const library = { name: "node-llama-cpp", version };
  const offered = llamaDeviceTypes.filter(({ platforms }) => platforms.includes(platform));
  const reports = offered.flatMap((type) => type.devices(options.machine).map((device) => ({ type, device })));
  const devices = await Promise.all(
    reports.map(async ({ type, device }): Promise<DeviceAvailability> => {
      const wanted =
        options.device === undefined || (options.device.type === device.type && options.device.index === device.index);
      const hasPackage = hasBuild(platform, architecture, type.gpu);
      const missing = [
        type.absenceReason(options.machine),
        hasPackage ? undefined : `node-llama-cpp has no build for ${type.name} here`,
      ].filter((reason) => reason !== undefined);
      const absence = missing.length === 0 ? undefined : missing.join("; ");
      const isKnown = absence !== undefined && options.full !== true; // a run would start a process to say the same
      if (!options.run || !wanted || !hasPackage || isKnown)
        return { device, state: absence === undefined ? "present" : "absent", reason: absence ?? "found" };
      throwIfAborted(options.signal);
      const request: TinyRunRequest = { device, full: options.full === true };
      const { signal } = options;
      const run = await runReportingChild<string>(new URL("./tiny-run-child.ts", import.meta.url), request, { signal });
      const { milliseconds } = run;
      if (run.ok) return { device, state: "available", reason: run.value, milliseconds };
      const reason = [absence, run.error.message].filter((part) => part !== undefined).join("; ");
      return { device, state: "absent", reason, milliseconds };
    }),
  );
  return { present: true, library, devices };
}

async function load(model: ModelFiles, device: Device, options: LoadOptions, builds: LlamaBuilds): Promise<TensorModel> {
  checkRequest(model, options);
  const { openEncoder } = await import("./encoders/open-encoder.ts");
  return await openEncoder(model, device, options, builds);
}

async function loadLanguage(
  model: LanguageModelFiles,
  device: Device,
  options: LoadOptions,
  builds: LlamaBuilds,
): Promise<LanguageModel> {
  checkRequest(model, options);
  const { openLanguageModel } = await import("./open-language-model.ts");
  return await openLanguageModel(model, device, options, builds);
}

function checkRequest({ format }: ModelFiles, { signal }: LoadOptions): void {
  throwIfAborted(signal);
  if (format !== "gguf") throw unsupportedModel(`llamacpp does not run ${format}`);
}
