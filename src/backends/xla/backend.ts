/** The backend `xla` behind the backend contract. */
import { createRequire } from "node:module";
import type {
  Availability,
  Backend,
  Capabilities,
  Device,
  DeviceAvailability,
  LanguageModel,
  LanguageModelFiles,
  Library,
  LoadOptions,
  LoadSettings,
  ModelFiles,
  ProbeOptions,
  Requirement,
  TensorModel,
} from "../../contract/backend.ts";
import { InferyardError, throwIfAborted } from "../../contract/errors.ts";
import { omitUndefined, required } from "../../contract/checked.ts";
import { architectureNames, encoderDecoderNames } from "../../engine/transformers/architecture-names.ts";
import { koffiInstall } from "../../libraries/ffi/koffi.ts";
import { estimateCache } from "../sequences/cache-estimate.ts";
import type { PluginForDevice } from "./load-model.ts";
import { defaultBuckets } from "./buckets.ts";
import { checkXlaSettings, type XlaSettings } from "./xla-settings.ts";
import type { PluginFacts } from "./probe-plugin.ts";

/** Options of the backend. */
export interface XlaOptions extends XlaSettings {
  /** Plugins that were probed, so that a process that loads a model need not probe them again. */
  readonly probed?: readonly ProbedPlugin[];
}

/** A plugin whose tiny program ran. */
export interface ProbedPlugin {
  readonly path: string;
  readonly facts: PluginFacts;
}

/** The setting that installs a plugin. */
const pluginRemedy = "set PJRT_PLUGIN_LIBRARY_PATH to a PJRT plugin, such as the one of the Python package xla-cpu-pjrt";
const koffi: Requirement = { kind: "package", name: "koffi", range: ">=3.3 <4", install: koffiInstall };
const pjrt: Requirement = { kind: "library", name: "a PJRT plugin", install: pluginRemedy };
const deviceTypes = ["cpu", "cuda", "rocm", "tpu"];
const decoderNames = architectureNames.filter((name) => /(?:ForCausalLM|LMHeadModel)$/.test(name));

/** The backend. Neither koffi nor a plugin is touched before `probe` or `load`. Throws INPUT_INVALID for a setting that cannot be used. */
export function xla(options: XlaOptions = {}): Backend {
  return new XlaBackend(options);
}

class XlaBackend implements Backend {
  readonly name = "xla";
  readonly contractVersion = 1;
  readonly requires: readonly Requirement[] = [koffi, pjrt];
  readonly #settings: XlaSettings;
  readonly #probed = new Map<string, ProbedPlugin>();

  constructor({ probed = [], ...settings }: XlaOptions) {
    checkXlaSettings(settings);
    this.#settings = settings;
    for (const plugin of probed) this.#probed.set(plugin.path, plugin);
  }

  get entry(): NonNullable<Backend["entry"]> {
    const options: XlaOptions = { ...this.#settings, probed: [...this.#probed.values()] };
    return { module: new URL("./index.ts", import.meta.url).href, export: "xla", options };
  }

  async probe({ run, device: only, signal }: ProbeOptions): Promise<Availability> {
    const { findPlugins } = await import("./find-plugins.ts");
    const files = await findPlugins(this.#settings.plugin);
    if (files.length === 0) return { present: false, reason: "no PJRT plugin was found", remedy: pluginRemedy };
    if (!isInstalled("koffi"))
      return { present: false, reason: "koffi, which calls libraries, is not installed", remedy: koffiInstall };
    if (!run) {
      const devices = deviceTypes.map((type): DeviceAvailability => {
        const known = this.#pluginOf(type);
        return {
          device: { type, index: 0 },
          state: "present",
          reason: known === undefined ? "plugins were found" : `found ${known.path}`,
        };
      });
      return { present: true, library: unknownLibrary, devices };
    }
    const { probePlugin } = await import("./probe-plugin.ts");
    const devices: DeviceAvailability[] = [];
    const refusals: string[] = [];
    let library: Library | undefined;
    for (const { path } of files) {
      throwIfAborted(signal);
      const probe = await probePlugin(path, signal);
      throwIfAborted(signal);
      if (!probe.ok) {
        refusals.push(`${path}: ${probe.reason}`);
        continue;
      }
      const { facts, milliseconds } = probe;
      if (this.#pluginOf(facts.deviceType) === undefined) this.#probed.set(path, { path, facts });
      library ??= libraryOf(facts);
      const device: Device = { type: facts.deviceType, index: 0 };
      const isWanted = only === undefined || (only.type === device.type && only.index === device.index);
      if (!isWanted || devices.some(({ device: known }) => known.type === device.type)) continue;
      const reason = `a tiny program gives the right answers on ${facts.deviceKind}, through ${path} (PJRT ${facts.apiVersion})`;
      devices.push({ device, state: "available", reason, milliseconds });
    }
    if (library === undefined) return { present: false, reason: refusals.join("; "), remedy: pluginRemedy };
    return { present: true, library, devices };
  }

  capabilities({ type }: Device): Capabilities {
    const isKnown = deviceTypes.includes(type);
    return {
      formats: isKnown ? { onnx: "any", safetensors: architectureNames, gguf: architectureNames } : {},
      languageFormats: isKnown ? { onnx: "any", safetensors: [...decoderNames, ...encoderDecoderNames], gguf: decoderNames } : {},
      precisions: isKnown ? ["fp32", "fp16", "bf16", "int8", "int4"] : [],
      options: ["threads", "graphOptimization", "contextLength", "allowSmallerContext", "cachePrecision"],
      cachePrecisions: ["fp32", "fp16"],
      footprint: { bytes: 200e6, perWeightByte: 1.1 },
      blocking: true,
      // A plugin is native code of others, and ends its process for some programs.
      needsProcess: true,
    };
  }

  async load(model: ModelFiles, device: Device, options: LoadOptions): Promise<TensorModel> {
    const plugin = await this.#pluginFor(device, options);
    const { loadOnPlugin } = await import("./load-model.ts");
    return await loadOnPlugin(model, plugin, options);
  }

  async loadLanguage(model: LanguageModelFiles, device: Device, options: LoadOptions): Promise<LanguageModel> {
    const plugin = await this.#pluginFor(device, options);
    if (model.encoder !== undefined) {
      const { loadLanguageModel } = await import("../sequences/load-language-model.ts");
      return await loadLanguageModel(model, options, async (part) => await this.load(part, device, options));
    }
    const { loadLanguageOnPlugin } = await import("./load-model.ts");
    return await loadLanguageOnPlugin(model, plugin, options);
  }

  estimateCache(
    { config }: ModelFiles,
    _device: Device,
    { cachePrecision = "fp32" }: LoadSettings,
  ): ReturnType<typeof estimateCache> {
    return estimateCache(config, cachePrecision, 0);
  }

  /** The probed plugin that serves a type of device. */
  #pluginOf(type: string): ProbedPlugin | undefined {
    return [...this.#probed.values()].find(({ facts }) => facts.deviceType === type);
  }

  async #pluginFor(device: Device, { signal }: LoadOptions): Promise<PluginForDevice> {
    throwIfAborted(signal);
    if (this.#pluginOf(device.type) === undefined) await this.#probeFor(device, signal);
    const { path, facts } = required(this.#pluginOf(device.type), "the plugin");
    const { memoryFraction, buckets } = this.#settings;
    return {
      path,
      device,
      library: libraryOf(facts),
      settings: { memoryFraction },
      buckets: { ...defaultBuckets, ...omitUndefined(buckets ?? {}) },
    };
  }

  /** Probes plugins until one serves the device. Throws BACKEND_UNAVAILABLE if none does. */
  async #probeFor(device: Device, signal: AbortSignal | undefined): Promise<void> {
    const [{ findPlugins }, { probePlugin }] = await Promise.all([import("./find-plugins.ts"), import("./probe-plugin.ts")]);
    const refusals: string[] = [];
    for (const { path } of await findPlugins(this.#settings.plugin)) {
      const probe = await probePlugin(path, signal);
      throwIfAborted(signal);
      if (probe.ok) this.#probed.set(path, { path, facts: probe.facts });
      if (probe.ok && probe.facts.deviceType === device.type) return;
      refusals.push(`${path}: ${probe.ok ? `it computes on ${probe.facts.deviceType}` : probe.reason}`);
    }
    const reason = refusals.length === 0 ? "no PJRT plugin was found" : refusals.join("; ");
    throw new InferyardError("BACKEND_UNAVAILABLE", `no PJRT plugin serves ${device.type}: ${reason}`, { remedy: pluginRemedy });
  }
}

const unknownLibrary: Library = { name: "xla", version: "unknown" };

function libraryOf({ apiVersion, stableHloVersion }: PluginFacts): Library {
  return { name: "xla", version: `PJRT ${apiVersion}, StableHLO ${stableHloVersion}` };
}

/** Whether a package is installed where this one is; nothing of it is loaded. */
function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}
