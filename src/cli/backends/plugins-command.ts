/** The actions of the command `backends` on plugins in the data folder: install, remove and list. */
import { type AcceleratorName, accelerators } from "../../backends/xla/plugins/accelerators.ts";
import { installedPlugins } from "../../backends/xla/plugins/installed-plugins.ts";
import { type InstallReport, installPlugin, removePlugins } from "../../backends/xla/plugins/install-plugin.ts";
import { invalidInput } from "../../contract/errors.ts";
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

/** Backends whose libraries this command installs. */
const installable = ["xla"];

/** Installs a plugin of a backend. Throws errors of `installPlugin`, and INPUT_INVALID for another backend. */
export async function installBackend(backend: string | undefined, flags: PluginFlags, terminal: Terminal): Promise<void> {
  checkBackend("install", backend);
  const { environment, directory, signal } = terminal;
  const { values, origins } = await effectiveSettings(terminal, { ...flags });
  const { offline } = await readHubConfig(environment, origins.offline === "default" ? undefined : values.offline);
  let received = "";
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
  writeLine(terminal.stdout, flags.json === true ? JSON.stringify(report) : describe(report));
}

/** Removes the plugin of an accelerator, or all of a backend. */
export async function removeBackend(backend: string | undefined, flags: PluginFlags, terminal: Terminal): Promise<void> {
  checkBackend("remove", backend);
  const report = await removePlugins(getAccelerator(flags), terminal.environment);
  const lines = report.removed.map(({ accelerator, version }) => `${backend} ${accelerator} ${version} removed`);
  const text = [...lines, `${formatBytes(report.freedBytes)} freed`].join("\n");
  writeLine(terminal.stdout, flags.json === true ? JSON.stringify(report) : text);
}

/** Lists the plugins in the data folder. Damaged records are reported on stderr. */
export async function listInstalled({ json }: PluginFlags, terminal: Terminal): Promise<void> {
  const { folder, plugins, damaged } = await installedPlugins({ environment: terminal.environment });
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
    return writeLine(terminal.stdout, JSON.stringify(rows));
  }
  if (plugins.length === 0) {
    writeLine(terminal.stdout, `no plugins in ${folder}`);
    return writeLine(terminal.stdout, "  install one: inferyard backends install xla");
  }
  const rows = plugins.map((plugin) => [
    plugin.backend,
    plugin.accelerator,
    `${plugin.package} ${plugin.version}`,
    formatBytes(plugin.bytes),
    plugin.path,
  ]);
  writeLine(terminal.stdout, formatTable(rows, ["backend", "accelerator", "package", "size", "path"]));
}

function checkBackend(action: string, backend: string | undefined): void {
  if (backend !== undefined && installable.includes(backend)) return;
  const message =
    backend === undefined
      ? `${action} requires the name of a backend`
      : `nothing of the backend ${backend} is installed by this command`;
  throw invalidInput(message, `inferyard backends ${action} ${installable.join("|")}`);
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
