/** The backend `xla` behind the backend contract. */
import { basename } from "node:path";
import type {
  Availability,
  Backend,
  Capabilities,
  Device,
  LanguageModel,
  LanguageModelFiles,
  LoadOptions,
  LoadSettings,
  ModelFiles,
  ProbeOptions,
  Requirement,
  TensorModel,
} from "../../contract/backend.ts";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import { isKoffiInstalled, koffiInstall } from "../../libraries/ffi/koffi.ts";
import { graphModels } from "../graphs/graph-formats.ts";
import { estimateCache } from "../sequences/cache-estimate.ts";
import type { PluginForDevice } from "./load-model.ts";
import { defaultBuckets } from "./buckets.ts";
import type { ProbedPlugin, XlaPlugins } from "./plugins/xla-plugins.ts";
import { checkXlaSettings, type XlaSettings } from "./xla-settings.ts";

/** Options of the backend. */
export interface XlaOptions extends XlaSettings {
  /** Plugins that were probed, so that a process that loads a model need not probe them again. */
  readonly probed?: readonly ProbedPlugin[];
}

const koffi: Requirement = { kind: "package", name: "koffi", range: ">=3.3 <4", install: koffiInstall };
const pjrt: Requirement = { kind: "library", name: "a PJRT plugin", install: "inferyard backends install xla" };
const deviceTypes = new Set(["cpu", "cuda", "rocm", "tpu"]);
// A plugin is native code of others, and ends its process for some programs.
const models = graphModels.map((each) => ({ ...each, runsIn: "process" as const }));

/** The backend. Neither koffi nor a plugin is touched before `probe` or `load`. Throws INPUT_INVALID for a setting that cannot be used. */
export function xla(options: XlaOptions = {}): Backend {
  return new XlaBackend(options);
}

class XlaBackend implements Backend {
  readonly name = "xla";
  readonly contractVersion = 1;
  readonly requires: readonly Requirement[] = [koffi, pjrt];
  readonly #settings: XlaSettings;
  readonly #given: readonly ProbedPlugin[];
  #plugins: XlaPlugins | undefined;

  constructor({ probed = [], ...settings }: XlaOptions) {
    checkXlaSettings(settings);
    this.#settings = settings;
    this.#given = probed;
  }

  get entry(): NonNullable<Backend["entry"]> {
    const options: XlaOptions = { ...this.#settings, probed: this.#plugins?.probed ?? this.#given };
    return { module: new URL("./index.ts", import.meta.url).href, export: "xla", options };
  }

  async probe(options: ProbeOptions): Promise<Availability> {
    const plugins = await this.#openPlugins();
    const availability = await plugins.probe({ ...options, run: options.run && isKoffiInstalled() });
    if (!availability.present || isKoffiInstalled()) return availability;
    return { present: false, reason: "koffi, which calls libraries, is not installed", remedy: koffiInstall };
  }

  capabilities({ type }: Device): Capabilities {
    const isKnown = deviceTypes.has(type);
    return {
      models: isKnown ? models : [],
      precisions: isKnown ? ["fp32", "fp16", "bf16", "int8", "int4"] : [],
      options: ["threads", "graphOptimization", "contextLength", "allowSmallerContext", "cachePrecision"],
      cachePrecisions: ["fp32", "fp16"],
      footprint: { bytes: 200e6, perWeightByte: 1.1 },
      compiles: true,
    };
  }

  async load(model: ModelFiles, device: Device, options: LoadOptions): Promise<TensorModel> {
    const plugin = await this.#pluginFor(device, options);
    const { loadOnPlugin } = await import("./load-model.ts");
    return await loadOnPlugin(model, plugin, options);
  }

  async loadLanguage(model: LanguageModelFiles, device: Device, options: LoadOptions): Promise<LanguageModel> {
    if (model.encoder !== undefined) {
      const reason =
        "the caches of a decoder whose encoder is a file of its own grow with each token, and XLA compiles a program for each shape, which takes longer than the token";
      throw new InferyardError("MODEL_UNSUPPORTED", reason, { remedy: "use the model's safetensors, or another backend" });
    }
    const plugin = await this.#pluginFor(device, options);
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

  async #pluginFor(device: Device, { signal }: LoadOptions): Promise<PluginForDevice> {
    const plugins = await this.#openPlugins();
    const { path, facts } = await plugins.pluginFor(device, signal);
    const [{ getLibrary }, { pluginDigest }] = await Promise.all([
      import("./plugins/xla-plugins.ts"),
      import("./plugins/plugin-digest.ts"),
    ]);
    const { memoryFraction, buckets, programCacheBytes } = this.#settings;
    return {
      path,
      device,
      library: { ...getLibrary(facts), files: [{ name: basename(path), sha256: await pluginDigest(path) }] },
      settings: { memoryFraction },
      buckets: { ...defaultBuckets, ...omitUndefined(buckets ?? {}) },
      programCacheBytes,
    };
  }

  /** The plugins of this backend, found at the first use. */
  async #openPlugins(): Promise<XlaPlugins> {
    const { XlaPlugins } = await import("./plugins/xla-plugins.ts");
    this.#plugins ??= new XlaPlugins(this.#settings.plugin, this.#given);
    return this.#plugins;
  }
}
