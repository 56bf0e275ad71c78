/** The actions of the command `backends` on engines and plugins in the data folder: install, remove and list. */
import { type AcceleratorName, accelerators } from "../../backends/xla/plugins/accelerators.ts";
import { installedPlugins } from "../../backends/xla/plugins/installed-plugins.ts";
import { type InstallReport, installPlugin, removePlugins } from "../../backends/xla/plugins/install-plugin.ts";
import { invalidInput } from "../../contract/errors.ts";
import { isKoffiInstalled } from "../../libraries/ffi/koffi.ts";
import {
  type EngineName,
  engineNames,
  installEngine,
  installedEngines,
  llamaAccelerators,
  mainPackages,
  removeEngine,
} from "../../libraries/npm/index.ts";
import { readHubConfig } from "../../models/hub/hub-config.ts";
import { formatTable } from "../output/table.ts";
import { formatBytes } from "../output/units.ts";
import { effectiveSettings, withNotice } from "../session.ts";
import { type Terminal, writeLine } from "../terminal.ts";

/** Flags of the actions. */
export interface PluginFlags {
  readonly accelerator?: string;
  readonly from?: string;
  readonly json?: boolean;
}

/** What this command installs: plugins of a backend from Python packages, and engines from npm packages. */
const installable = ["xla", ...engineNames];

/** Installs what a backend needs. Throws errors of `installPlugin` and `installEngine`, and INPUT_INVALID for another backend or accelerator. */
export async function installBackend(backend: string | undefined, flags: PluginFlags, terminal: Terminal): Promise<void> {
  checkBackend("install", backend);
  checkAccelerator(backend, flags);
  const { environment, directory, signal } = terminal;
  const { values, origins } = await effectiveSettings(terminal, { ...flags });
  const { offline } = await readHubConfig(environment, origins.offline === "default" ? undefined : values.offline);
  let received = "";
  const engine = getEngine(backend);
  const installNpm = async (name: EngineName, from: string | undefined): Promise<string> => {
    const report = await withNotice(
      terminal,
      (elapsed) => `installing ${mainPackages[name]}   ${received}   ${elapsed}`,
      installEngine({
        engine: name,
        accelerator: name === engine ? llamaAccelerators.find((each) => each === flags.accelerator) : undefined,
        from,
        offline,
        directory,
        environment,
        signal,
        onProgress: (bytes) => (received = formatBytes(bytes)),
      }),
    );
    if (flags.json === true) return JSON.stringify(report);
    const state = report.isUnchanged ? "installed before" : `${report.packages} packages`;
    return `${name} ${report.accelerator}   ${report.package} ${report.version}, ${formatBytes(report.bytes)}, ${state}\n  ${report.path}`;
  };
  if (engine !== undefined) {
    const text = await installNpm(engine, flags.from);
    return writeLine(terminal.stdout, flags.json === true ? text : `${text}\n  test it: inferyard backends --run`);
  }
  const installing = installPlugin({
    accelerator: getAccelerator(flags),
    from: flags.from,
    offline,
    directory,
    environment,
    signal,
    onProgress: ({ bytes, totalBytes }) =>
      (received = totalBytes === undefined ? formatBytes(bytes) : `${formatBytes(bytes)} of ${formatBytes(totalBytes)}`),
  });
  const report = await withNotice(
    terminal,
    (elapsed) => `installing a plugin of ${backend}   ${received}   ${elapsed}`,
    installing,
  );
  const koffi = isKoffiInstalled() ? [] : [await installNpm("koffi", undefined)]; // the plugin is called through it
  writeLine(terminal.stdout, flags.json === true ? JSON.stringify(report) : [describe(report), ...koffi].join("\n"));
}

/** Removes the plugin of an accelerator, or all of a backend. */
export async function removeBackend(backend: string | undefined, flags: PluginFlags, terminal: Terminal): Promise<void> {
  checkBackend("remove", backend);
  checkAccelerator(backend, flags);
  const engine = getEngine(backend);
  if (engine !== undefined) {
    if (flags.accelerator !== undefined)
      throw invalidInput(`${engine} is removed as a whole`, `inferyard backends remove ${engine}`);
    const removed = await removeEngine(engine, terminal.environment);
    const lines = `${engine} ${removed.version} removed\n${formatBytes(removed.bytes)} freed`;
    return writeLine(terminal.stdout, flags.json === true ? JSON.stringify(removed) : lines);
  }
  const report = await removePlugins(getAccelerator(flags), terminal.environment);
  const lines = report.removed.map(({ accelerator, version }) => `${backend} ${accelerator} ${version} removed`);
  const text = [...lines, `${formatBytes(report.freedBytes)} freed`].join("\n");
  writeLine(terminal.stdout, flags.json === true ? JSON.stringify(report) : text);
}

/** Lists the plugins in the data folder. Damaged records are reported on stderr. */
export async function listInstalled({ json }: PluginFlags, terminal: Terminal): Promise<void> {
  const { folder, plugins, damaged } = await installedPlugins({ environment: terminal.environment });
  const engines = await installedEngines(terminal.environment);
  for (const { path, problem, accelerator } of damaged)
    writeLine(
      terminal.stderr,
      `inferyard: the record ${path} is damaged: ${problem}\n  inferyard backends install xla --accelerator ${accelerator}`,
    );
  if (json === true) {
    const rows = plugins.map(({ backend, accelerator, version, path, sha256, bytes }) => ({
      backend,
      accelerator,
      version,
      path,
      sha256,
      bytes,
    }));
    const others = engines.map(({ engine, accelerator, version, path, digest, bytes }) => ({
      backend: engine,
      accelerator,
      version,
      path,
      sha256: digest,
      bytes,
    }));
    return writeLine(terminal.stdout, JSON.stringify([...rows, ...others]));
  }
  if (plugins.length + engines.length === 0) {
    writeLine(terminal.stdout, `no plugins in ${folder}`);
    return writeLine(terminal.stdout, `  install one: inferyard backends install ${installable.join("|")}`);
  }
  const rows = plugins.map((plugin) => [
    plugin.backend,
    plugin.accelerator,
    `${plugin.package} ${plugin.version}`,
    formatBytes(plugin.bytes),
    plugin.path,
  ]);
  const others = engines.map((each) => [
    each.engine,
    each.accelerator,
    `${each.package} ${each.version}`,
    formatBytes(each.bytes),
    each.path,
  ]);
  writeLine(terminal.stdout, formatTable([...rows, ...others], ["backend", "accelerator", "package", "size", "path"]));
}

function checkBackend(action: string, backend: string | undefined): void {
  if (backend !== undefined && installable.includes(backend)) return;
  const message =
    backend === undefined
      ? `${action} requires the name of a backend`
      : `nothing of the backend ${backend} is installed by this command`;
  throw invalidInput(message, `inferyard backends ${action} ${installable.join("|")}`);
}

/** Throws INPUT_INVALID for an accelerator that the backend has no library for. */
function checkAccelerator(backend: string | undefined, { accelerator }: PluginFlags): void {
  const engine = getEngine(backend);
  if (accelerator === undefined) return;
  const known: readonly string[] = engine === undefined ? accelerators : engine === "llamacpp" ? llamaAccelerators : [];
  if (known.includes(accelerator)) return;
  const remedy = known.length === 0 ? "leave --accelerator out" : `accelerators of ${backend}: ${known.join(", ")}`;
  throw invalidInput(`nothing of ${backend} is installed for ${accelerator}`, remedy);
}

function getEngine(backend: string | undefined): EngineName | undefined {
  return engineNames.find((name) => name === backend);
}

function getAccelerator({ accelerator }: PluginFlags): AcceleratorName | undefined {
  return accelerators.find((name) => name === accelerator);
}

function describe(report: InstallReport): string {
  const { accelerator, version, path, bytes, license, isUnchanged, companions, companionFolder } = report;
  const state = isUnchanged ? "installed before" : `license ${license ?? "not declared"}`;
  const needs =
    companions.length === 0
      ? []
      : [
          "  it loads NVIDIA's libraries, which are not part of it: LD_LIBRARY_PATH names their folders, or they are put beside it by",
          `  python3 -m pip install --target ${companionFolder} ${companions.join(" ")}`,
        ];
  return [
    `xla ${accelerator}   ${report.package} ${version}, ${formatBytes(bytes)}, ${state}`,
    `  ${path}`,
    ...needs,
    "  test it: inferyard backends --run",
  ].join("\n");
}
