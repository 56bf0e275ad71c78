import { type Command, Option } from "commander";
import { accelerators } from "../../../backends/xla/plugins/accelerators.ts";
import { llamaAccelerators } from "../../../libraries/npm/engine-packages.ts";
import type { DeviceState } from "../../../contract/backend.ts";
import { invalidInput } from "../../../contract/errors.ts";
import type { BackendReport } from "../../../runtime/reports.ts";
import { formatTarget } from "../../../runtime/targets/target.ts";
import { addSettingFlags, openSession } from "../../session.ts";
import { formatSearched } from "../../backends/format-searched.ts";
import { formatTable } from "../../output/table.ts";
import { type Terminal, writeLine } from "../../terminal.ts";

/** Flags of the command `backends`. */
interface BackendFlags {
  readonly run?: boolean;
  readonly verbose?: boolean;
  readonly installed?: boolean;
  readonly accelerator?: string;
  readonly from?: string;
  readonly offline?: boolean;
  readonly library?: string;
  readonly json?: boolean;
}

const actions = ["list", "install", "remove"] as const;

/** Flags that only some actions take, with these actions. */
const flagsOfActions: Readonly<Record<string, readonly (typeof actions)[number][]>> = {
  run: ["list"],
  verbose: ["list"],
  library: ["list"],
  installed: ["list"],
  accelerator: ["install", "remove"],
  from: ["install"],
  offline: ["install"],
};

/** Defines the command `backends`. */
export function defineBackends(command: Command, terminal: Terminal): void {
  command
    .argument("[action]", "list (the default); install or remove: the library of a backend, in the data folder")
    .argument(
      "[backend]",
      "with install and remove: xla, onnx, llamacpp, or koffi (which xla and library call libraries through)",
    );
  addSettingFlags(command, ["library"])
    .option("--run", "test each one with a tiny run, as doctor does, instead of checking its presence")
    .option("--verbose", "list every location in which plugins were looked for")
    .option("--installed", "list what is installed in the data folder instead")
    .addOption(
      new Option("--accelerator <name>", "with install and remove: what it computes on (install: cpu by default)").choices([
        ...new Set([...accelerators, ...llamaAccelerators]),
      ]),
    )
    .option(
      "--from <source>",
      "with install: a file or a folder of packages, or the URL of an index or a registry, in place of pip's or npm's settings",
    )
    .addOption(new Option("--offline", "with install: disable downloads"))
    .action(async (action: string = "list", backend: string | undefined, flags: BackendFlags) => {
      const chosen = actions.find((each) => each === action);
      if (chosen === undefined) throw invalidInput(`backends has no action ${action}`, `actions: ${actions.join(", ")}`);
      checkFlags(chosen, backend, flags);
      if (chosen === "list" && flags.installed !== true) return await listTargets(flags, terminal);
      const { installBackend, listInstalled, removeBackend } = await import("../../backends/plugins-command.ts");
      if (chosen === "list") return await listInstalled(flags, terminal);
      await (chosen === "install" ? installBackend : removeBackend)(backend, flags, terminal);
    });
}

function checkFlags(action: (typeof actions)[number], backend: string | undefined, flags: BackendFlags): void {
  const refuse = (what: string, remedy: string): never => {
    throw invalidInput(what, remedy);
  };
  if (action === "list" && backend !== undefined) refuse(`list takes no backend, and was given ${backend}`, "leave it out");
  for (const [name, takers] of Object.entries(flagsOfActions)) {
    if (flags[name as keyof BackendFlags] !== undefined && !takers.includes(action))
      refuse(`--${name} has no effect on ${action}`, `it requires ${takers.join(" or ")}`);
  }
  const other = (["run", "verbose", "library"] as const).find((name) => flags[name] !== undefined);
  if (flags.installed === true && other !== undefined) refuse(`--${other} has no effect on --installed`, "leave one of them out");
}

async function listTargets(flags: BackendFlags, terminal: Terminal): Promise<void> {
  const { runtime } = await openSession(terminal, { ...flags });
  const reports = await runtime.backends({ run: flags.run === true, signal: terminal.signal });
  if (flags.json === true) return writeLine(terminal.stdout, JSON.stringify(reports));
  const targets = getBackendTargets(reports);
  const rows = targets.map(({ target, library, state, reason, warning }) => [
    target,
    state,
    [state === "absent" ? undefined : library, reason, warning].filter((part) => part !== undefined).join(", "),
  ]);
  const remedies = targets.map(({ remedy }) => remedy);
  writeLine(terminal.stdout, formatTable(rows, ["target", "state", "why"], remedies));
  if (flags.verbose === true) writeLine(terminal.stdout, formatSearched(reports));
}

/** Availability of one target. */
export interface BackendTargetReport {
  readonly target: string;
  /** Name and version of the engine; undefined if the backend is missing. */
  readonly library: string | undefined;
  /** "absent", too, if the backend is missing. */
  readonly state: DeviceState;
  readonly reason: string;
  /** See `DeviceAvailability`. */
  readonly warning: string | undefined;
  readonly remedy: string | undefined;
  readonly milliseconds: number | undefined;
}

/** One report per backend and device; a missing backend has one. */
export function getBackendTargets(reports: readonly BackendReport[]): BackendTargetReport[] {
  return reports.flatMap(({ backend, availability }): BackendTargetReport[] => {
    if (!availability.present) {
      const { reason, remedy } = availability;
      return [
        {
          target: `${backend}:cpu`,
          library: undefined,
          state: "absent",
          reason,
          warning: undefined,
          remedy,
          milliseconds: undefined,
        },
      ];
    }
    const library = `${availability.library.name} ${availability.library.version}`;
    return availability.devices.map(({ device, state, reason, warning, remedy, milliseconds }) => ({
      target: formatTarget({ backend, device }),
      library,
      state,
      reason,
      warning,
      remedy,
      milliseconds,
    }));
  });
}
