import type { Command } from "commander";
import type { MachineFacts } from "../../../contract/backend.ts";
import { addSettingFlags, openSession, withNotice } from "../../session.ts";
import { formatSearched } from "../../backends/format-searched.ts";
import { colorize } from "../../output/style.ts";
import { formatTable } from "../../output/table.ts";
import { type Terminal, writeLine } from "../../terminal.ts";
import { formatBytes, formatMilliseconds, plural } from "../../output/units.ts";
import { type BackendTargetReport, getBackendTargets } from "./backends.ts";

/** Defines the command `doctor`. */
export function defineDoctor(command: Command, terminal: Terminal): void {
  addSettingFlags(command, ["library"])
    .option(
      "--full",
      "repeat the self-tests that passed before on this machine, and try the devices that it does not have, for the engines' own messages",
    )
    .option("--verbose", "list every location in which plugins were looked for");
  command.action(async (flags: Record<string, unknown>) => {
    const { runtime } = await openSession(terminal, flags, undefined, { isReport: true });
    const machine = await runtime.machine();
    const running = runtime.backends({ run: true, full: flags["full"] === true, signal: terminal.signal });
    const reports = await withNotice(terminal, "running a tiny computation on every target", running);
    const targets = getBackendTargets(reports);
    if (flags["json"] === true) {
      const searched = reports.flatMap(({ backend, availability }) =>
        availability.searched === undefined || flags["verbose"] !== true ? [] : [{ backend, locations: availability.searched }],
      );
      return writeLine(terminal.stdout, JSON.stringify({ machine, targets, ...(searched.length === 0 ? {} : { searched }) }));
    }
    writeLine(terminal.stdout, describeMachine(machine));
    const rows = targets.map((each) => [
      each.target,
      getVerdict(each, terminal),
      each.milliseconds === undefined ? "" : formatMilliseconds(each.milliseconds),
      [[each.library, each.reason].filter((part) => part !== undefined).join(": "), each.warning]
        .filter((part) => part !== undefined)
        .join("; "),
    ]);
    const remedies = targets.map(({ remedy }) => remedy);
    writeLine(terminal.stdout, formatTable(rows, undefined, remedies));
    if (flags["verbose"] === true) writeLine(terminal.stdout, formatSearched(reports));
  });
}

/** PASS, WARN for a target that works with something wrong, FAIL, or a dash where the backend is not installed. */
function getVerdict({ state, library, warning }: BackendTargetReport, terminal: Terminal): string {
  if (library === undefined) return "----";
  if (state === "absent") return colorize(terminal, "bad", "FAIL");
  return warning === undefined ? colorize(terminal, "good", "PASS") : colorize(terminal, "warn", "WARN");
}

function describeMachine({ cpu, memory, platform, accelerators }: MachineFacts): string {
  const quota = cpu.quota.value === cpu.cores.value ? "" : ` (quota ${cpu.quota.value})`;
  const parts = [
    cpu.model.value,
    `${plural(cpu.cores.value, "core")}${quota}`,
    cpu.features.value.join(" "),
    `${formatBytes(memory.available.value)} of ${formatBytes(memory.total.value)} available`,
    ...accelerators.map(({ name }) => name),
    `${platform}, Node.js ${process.versions.node}`,
  ];
  return `machine   ${parts.filter((part) => part !== "").join(", ")}`;
}
