import type { Command } from "commander";
import type { DeviceState } from "../../../contract/backend.ts";
import type { BackendReport } from "../../../runtime/reports.ts";
import { formatTarget } from "../../../runtime/targets/target.ts";
import { libraryOption, openSession } from "../../session.ts";
import { formatTable } from "../../output/table.ts";
import { type Terminal, writeLine } from "../../terminal.ts";

/** Defines the command `backends`. */
export function defineBackends(command: Command, terminal: Terminal): void {
  command
    .addOption(libraryOption())
    .option("--run", "test each one with a tiny run, as doctor does, instead of checking its presence")
    .action(async (flags: Record<string, unknown>) => {
      const { runtime } = await openSession(terminal, flags);
      const reports = await runtime.backends({ run: flags["run"] === true, signal: terminal.signal });
      if (flags["json"] === true) return writeLine(terminal.stdout, JSON.stringify(reports));
      const targets = targetsOf(reports);
      const rows = targets.map(({ target, library, state, reason, warning }) => [
        target,
        state,
        [state === "absent" ? undefined : library, reason, warning].filter((part) => part !== undefined).join(", "),
      ]);
      const remedies = targets.map(({ remedy }) => remedy);
      writeLine(terminal.stdout, formatTable(rows, ["target", "state", "why"], remedies));
    });
}

/** Availability of one target. */
export interface TargetReport {
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
export function targetsOf(reports: readonly BackendReport[]): TargetReport[] {
  return reports.flatMap(({ backend, availability }): TargetReport[] => {
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
