/** The plugins of one backend: which devices they serve, and which plugin serves a device. */
import { stat } from "node:fs/promises";
import type { Availability, Device, DeviceAvailability, Library, MachineFacts, ProbeOptions } from "../../../contract/backend.ts";
import { InferyardError, throwIfAborted } from "../../../contract/errors.ts";
import {
  type PluginCandidate,
  type PluginCandidates,
  type RefusedPlugin,
  getCandidates,
  describeRefusals,
  findCandidates,
} from "./candidates.ts";
import { type PluginFacts, probePlugin } from "./probe-plugin.ts";
import { PluginReader } from "./plugin-reader.ts";

/** A plugin whose tiny program ran on a device. Plain data, which another process may be given. */
export interface ProbedPlugin {
  readonly path: string;
  /** Size in bytes when it was probed. */
  readonly size: number;
  /** Modification time in milliseconds since 1970 when it was probed. */
  readonly modified: number;
  readonly facts: PluginFacts;
}

/** The command that installs a plugin, and the variable that names one. */
export const pluginRemedy = "inferyard backends install xla, or set PJRT_PLUGIN_LIBRARY_PATH to a PJRT plugin";

/** Types of devices in order of preference. */
export const xlaDeviceTypes: readonly string[] = ["cuda", "rocm", "tpu", "cpu"];

const noPlugin = "no PJRT plugin was found in the variables for plugins, the data folder, Python packages and usual folders";

/** Name and version of XLA's library according to the plugin. */
export function getLibrary(facts: PluginFacts | undefined): Library {
  const version = facts === undefined ? "unknown" : `PJRT ${facts.apiVersion}, StableHLO ${facts.stableHloVersion}`;
  return { name: "xla", version };
}

/** Finds, reads and probes plugins. A probe's result is kept as long as the file does not change. */
export class XlaPlugins {
  readonly #configured: string | undefined;
  readonly #reader = new PluginReader();
  readonly #probed: ProbedPlugin[];

  /** `configured`: the setting, paths of files and folders. `probed`: plugins that another process has probed. */
  constructor(configured: string | undefined, probed: readonly ProbedPlugin[] = []) {
    this.#configured = configured;
    this.#probed = [...probed];
  }

  /** Results of the probes, by plugin. */
  get probed(): readonly ProbedPlugin[] {
    return this.#probed;
  }

  /** See `Backend.probe`. Without `run`, files are read and nothing is loaded. */
  async probe(options: ProbeOptions): Promise<Availability> {
    const found = await findCandidates(this.#configured, this.#reader);
    const { candidates, refused, locations: searched } = found;
    if (candidates.length === 0) {
      const reason = refused.length === 0 ? noPlugin : describeRefusals(refused);
      return { present: false, reason, remedy: pluginRemedy, searched };
    }
    const { devices, failed } = options.run
      ? await this.#run(found, options)
      : { devices: presentDevices(found, options.machine), failed: [] };
    const isAnyLoaded = devices.some(({ state }) => state !== "absent") || failed.length === 0;
    if (!isAnyLoaded && devices.every(({ device }) => absenceReason(device.type, options.machine) === undefined)) {
      return { present: false, reason: describeRefusals([...refused, ...failed]), remedy: pluginRemedy, searched };
    }
    const library = getLibrary(devices.map(({ device }) => this.#known(device.type)?.facts).find((facts) => facts !== undefined));
    return { present: true, library, devices: withWarning(devices, [...refused, ...failed]), searched };
  }

  /**
   * The plugin that serves a device. Probes plugins of its type, then those whose files do not show their type. Throws BACKEND_UNAVAILABLE with the reason of
   * each.
   */
  async pluginFor(device: Device, signal: AbortSignal | undefined): Promise<ProbedPlugin> {
    throwIfAborted(signal);
    const known = this.#known(device.type);
    if (known !== undefined && (await isUnchanged(known))) return known;
    if (known !== undefined) this.#probed.splice(this.#probed.indexOf(known), 1);
    const { candidates, refused } = await findCandidates(this.#configured, this.#reader);
    const failed: RefusedPlugin[] = [];
    for (const candidate of inOrderFor(device.type, candidates)) {
      const { probed, reason } = await this.#try(candidate, device, signal);
      if (probed?.facts.deviceType === device.type) return probed;
      failed.push({ ...candidate, reason: reason ?? `it computes on ${probed?.facts.deviceType}` });
    }
    const others = candidates.filter((candidate) => !inOrderFor(device.type, candidates).includes(candidate));
    const refusals = [
      ...refused,
      ...failed,
      ...others.map((each) => ({
        ...each,
        reason: `it computes on ${each.contents.kind?.deviceType}: ${each.contents.kind?.evidence}`,
      })),
    ];
    const reason = refusals.length === 0 ? noPlugin : describeRefusals(refusals);
    throw new InferyardError("BACKEND_UNAVAILABLE", `no PJRT plugin serves ${device.type}: ${reason}`, { remedy: pluginRemedy });
  }

  #known(type: string): ProbedPlugin | undefined {
    return this.#probed.find(({ facts }) => facts.deviceType === type);
  }

  /** Runs the tiny program on each device that the machine has and a candidate serves. */
  async #run(
    { candidates }: PluginCandidates,
    options: ProbeOptions,
  ): Promise<{ readonly devices: readonly DeviceAvailability[]; readonly failed: readonly RefusedPlugin[] }> {
    const { machine, device: only, full, signal } = options;
    const isWanted = ({ type, index }: Device): boolean => only === undefined || (only.type === type && only.index === index);
    const devices: DeviceAvailability[] = [];
    const failed: RefusedPlugin[] = [];
    const tryAll = async (device: Device, list: readonly PluginCandidate[]): Promise<DeviceAvailability | undefined> => {
      const own: RefusedPlugin[] = [];
      for (const candidate of list) {
        const { probed, reason, milliseconds } = await this.#try(candidate, device, signal);
        if (probed?.facts.deviceType === device.type) {
          failed.push(...own);
          return { device, state: "available", reason: ranOn(probed), milliseconds };
        }
        own.push({ ...candidate, reason: reason ?? `it computes on ${probed?.facts.deviceType}` });
      }
      failed.push(...own);
      return own.length === 0 ? undefined : { device, state: "absent", reason: describeRefusals(own) };
    };
    for (const device of xlaDeviceTypes.flatMap((type) =>
      getCandidates(type, candidates).length > 0 ? getDevices(type, machine) : [],
    )) {
      if (!isWanted(device)) continue;
      const absence = absenceReason(device.type, machine);
      const tried =
        absence !== undefined && full !== true ? undefined : await tryAll(device, getCandidates(device.type, candidates));
      devices.push(tried ?? { device, state: "absent", reason: absence ?? "no plugin serves it" });
    }
    for (const candidate of candidates.filter(({ contents }) => contents.kind === undefined)) {
      if (only !== undefined && devices.some(({ state }) => state === "available")) break;
      const { probed, reason, milliseconds } = await this.#try(candidate, undefined, signal);
      if (probed === undefined) {
        failed.push({ ...candidate, reason: reason ?? "" });
        continue;
      }
      const device = { type: probed.facts.deviceType, index: 0 };
      const before = devices.findIndex((each) => each.device.type === device.type && each.device.index === 0);
      if (!isWanted(device) || devices[before]?.state === "available") continue;
      const report: DeviceAvailability = { device, state: "available", reason: ranOn(probed), milliseconds };
      if (before < 0) devices.push(report);
      else devices[before] = report;
    }
    return { devices, failed };
  }

  /** Loads a candidate in a child process. Without a device, that of its client. */
  async #try(
    { path, contents }: PluginCandidate,
    device: Device | undefined,
    signal: AbortSignal | undefined,
  ): Promise<{ readonly probed?: ProbedPlugin; readonly reason?: string; readonly milliseconds: number }> {
    throwIfAborted(signal);
    const status = await stat(path).catch(() => undefined);
    const probe = await probePlugin(path, contents.kind === undefined ? undefined : device, signal);
    throwIfAborted(signal);
    const { milliseconds } = probe;
    if (!probe.ok || status === undefined)
      return { reason: probe.ok ? "the file was removed" : probe.error.message, milliseconds };
    const probed: ProbedPlugin = { path, size: status.size, modified: status.mtimeMs, facts: probe.value };
    const known = this.#known(probe.value.deviceType);
    if (known === undefined) this.#probed.push(probed);
    else if (known.path === path) this.#probed[this.#probed.indexOf(known)] = probed;
    return { probed, milliseconds };
  }
}

async function isUnchanged({ path, size, modified }: ProbedPlugin): Promise<boolean> {
  return await stat(path).then(
    (status) => status.size === size && status.mtimeMs === modified,
    () => false,
  );
}

function ranOn({ path, facts }: ProbedPlugin): string {
  return `a tiny program gives the right answers on ${facts.deviceKind}, through ${path} (PJRT ${facts.apiVersion})`;
}

/** Candidates of a type, then candidates whose type is only known after a load. */
function inOrderFor(type: string, candidates: readonly PluginCandidate[]): readonly PluginCandidate[] {
  return [...getCandidates(type, candidates), ...candidates.filter(({ contents }) => contents.kind === undefined)];
}

/** The devices of a type on this machine: each GPU, one for other types. A client of a TPU plugin uses all chips. */
function getDevices(type: string, { accelerators }: MachineFacts): readonly Device[] {
  const indices = accelerators.filter(({ device }) => device.type === type).map(({ device }) => device.index);
  const isGpu = type === "cuda" || type === "rocm";
  return (isGpu && indices.length > 0 ? indices : [0]).map((index) => ({ type, index }));
}

/** Why the machine has no device of a type; undefined if it has one. */
function absenceReason(type: string, { accelerators, absent }: MachineFacts): string | undefined {
  if (type === "cpu" || accelerators.some(({ device }) => device.type === type)) return undefined;
  return absent[type] ?? `no ${type} device on this machine`;
}

/** Devices that the plugins found can serve, as far as their files tell. */
function presentDevices({ candidates }: PluginCandidates, machine: MachineFacts): readonly DeviceAvailability[] {
  const known = xlaDeviceTypes.flatMap((type) => {
    const [first] = getCandidates(type, candidates);
    if (first === undefined) return [];
    const absence = absenceReason(type, machine);
    const reason = absence ?? `found ${first.path} (${first.contents.kind?.evidence})`;
    return getDevices(type, machine).map((device): DeviceAvailability => ({
      device,
      state: absence === undefined ? "present" : "absent",
      reason,
    }));
  });
  const unknown = candidates.find(({ contents }) => contents.kind === undefined);
  if (unknown === undefined || known.some(({ device }) => device.type === "cpu")) return known;
  const reason = `found ${unknown.path}, whose contents do not tell what it computes on`;
  return [...known, { device: { type: "cpu", index: 0 }, state: "present", reason }];
}

/** Adds a warning to the first device where a plugin that a setting or variable names is refused, so that the one that serves instead does not hide it. */
function withWarning(devices: readonly DeviceAvailability[], refused: readonly RefusedPlugin[]): readonly DeviceAvailability[] {
  const named = refused.filter(({ isNamed }) => isNamed);
  const index = devices.findIndex(({ state }) => state !== "absent");
  if (named.length === 0 || index < 0) return devices;
  const warning = `plugins that ${[...new Set(named.map(({ foundBy }) => foundBy))].join(" and ")} names are refused: ${describeRefusals(named)}`;
  return devices.map((device, position) => (position === index ? { ...device, warning } : device));
}
