import { type Command, Option } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import { invalidInput } from "../../../contract/errors.ts";
import type { Knob, TuneFigures } from "../../../measuring/index.ts";
import { type EffectiveSettings, settingsPath } from "../../../settings/read.ts";
import { type MeasuringFlags, addMeasuringFlags, measureWithNotice } from "../../measuring/flags.ts";
import { formatTable } from "../../output/table.ts";
import { parseListFlag } from "../../option-flags.ts";
import { effectiveSettings, withSession } from "../../session.ts";
import { type Terminal, writeLine } from "../../terminal.ts";

interface TuneFlags extends MeasuringFlags {
  readonly only?: readonly Knob[];
  readonly write?: boolean;
  readonly config?: string;
}

/** Defines the command `tune`. */
export function defineTune(command: Command, terminal: Terminal): void {
  command
    .argument("[model]", "model reference")
    .addOption(
      new Option("--only <settings>", "try these settings only: threads, replicas, batchTokens").argParser(parseListFlag),
    )
    .option("--write", "write values that are confirmed to be better into inferyard.yaml");
  addMeasuringFlags(command).action(async (model: string | undefined, flags: TuneFlags & Record<string, unknown>) => {
    refuseTuned(flags);
    const { only } = flags;
    await withSession(terminal, flags, model, async (session) => {
      const {
        runtime,
        model: reference,
        settings: { target },
      } = session;
      // Imported on demand, since it imports all tasks, which --help does not need.
      const [{ tuneModel }, { skippedRows, throwUnmet }, { formatTuning }] = await Promise.all([
        import("../../../measuring/index.ts"),
        import("../../measuring/target-reports.ts"),
        import("../../measuring/tuning-report.ts"),
      ]);
      const report = await measureWithNotice(terminal, session, flags, ({ settings = {}, ...options }) => {
        const others = Object.entries(settings).filter(([name]) => !tuned.some((knob) => knob === name));
        return tuneModel({ ...options, settings: Object.fromEntries(others), ...omitUndefined({ only, target }) });
      });
      const found = report.targets.find(({ figures }) => figures !== undefined);
      const { cpu } = await runtime.machine();
      const heading = `${reference} on ${found?.target ?? "no target"}, ${cpu.model.value}, ${cpu.quota.value} cores`;
      const text = found?.figures === undefined ? formatTable(skippedRows(report.targets)) : formatTuning(found.figures);
      // Printed before the settings file is written, so that a failed write loses no result.
      writeLine(terminal.stdout, flags.json === true ? JSON.stringify(report) : `${heading}\n${text}`);
      if (found?.figures !== undefined) await keep(terminal, flags, found.figures);
      throwUnmet(report, target, "RUN_FAILED", "could not be measured");
    });
  });
}

const tuned: readonly Knob[] = ["threads", "replicas", "batchTokens"];

/** Throws INPUT_INVALID for a flag that sets a value which tune varies. */
function refuseTuned(flags: Readonly<Record<string, unknown>>): void {
  const given = tuned.find((knob) => flags[knob] !== undefined);
  if (given === undefined) return;
  throw invalidInput(`tune tries values of ${given} itself`, "leave the flag out; --only chooses which settings are tried");
}

/** With `--write`, writes the found settings into the settings file. Prints notes on configured values that differ from the result. */
async function keep(terminal: Terminal, flags: TuneFlags, figures: TuneFigures): Promise<void> {
  const { config, write = false } = flags;
  const before = await effectiveSettings(terminal, config === undefined ? {} : { config });
  const file = config === undefined ? {} : { file: config };
  const path = settingsPath({ environment: terminal.environment, directory: terminal.directory, ...file });
  const { settings } = figures;
  const isBetter = Object.keys(settings).length > 0;
  if (write && isBetter) {
    const { writeSettings } = await import("../../../settings/write.ts"); // the YAML library is slow to load
    await writeSettings(path, settings);
  }
  if (flags.quiet === true || flags.json === true) return;
  const written = isBetter ? [write ? `written to ${path}` : "--write puts this into inferyard.yaml"] : [];
  for (const note of [...written, ...notesInTheWay(before, figures)]) writeLine(terminal.stderr, note);
}

/** Notes on values set elsewhere that differ from the result: environment variables override the file, and a configured value may be worse than the default. */
function notesInTheWay({ values, origins }: EffectiveSettings, { start, trials, best }: TuneFigures): string[] {
  return tuned.flatMap((knob) => {
    const [origin, value] = [origins[knob], values[knob]];
    if (!trials.some((trial) => trial.knob === knob) || origin === undefined || origin === "default" || value === best[knob])
      return [];
    if (best[knob] === start[knob]) return [`${origin} sets ${knob} to ${value}, and the default was not beaten: leave it out`];
    return origin.startsWith("INFERYARD_") ? [`${origin} sets ${knob} to ${value}, and wins over the file`] : [];
  });
}
