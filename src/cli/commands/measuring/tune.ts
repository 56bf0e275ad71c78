import { type Command, Option } from "commander";
import { threadsFor } from "../../../devices/index.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { readManifest } from "../../../models/index.ts";
import { type EffectiveSettings, settingsPath } from "../../../settings/read.ts";
import { settingDefaults } from "../../../settings/settings.ts";
import { type MeasuringFlags, addMeasuringFlags, runAsMeasuringChild } from "../../measuring/flags.ts";
import { runRounds } from "../../measuring/rounds.ts";
import { type Knob, type Measure, type Point, type SearchPlan, search } from "../../measuring/search.ts";
import { formatTuning } from "../../measuring/tuning-report.ts";
import { effectiveSettings, list, openSession } from "../../session.ts";
import { type Terminal, writeLine } from "../../terminal.ts";
import { runnableTargets } from "./runnable-targets.ts";

interface TuneFlags extends MeasuringFlags {
  readonly only?: readonly string[];
  readonly write?: boolean;
  readonly config?: string;
  readonly quiet?: boolean;
}

/** Defines the command `tune`. */
export function defineTune(command: Command, terminal: Terminal): void {
  command
    .argument("[model]", "model reference")
    .addOption(new Option("--only <settings>", "try these settings only: threads, replicas, batchTokens").argParser(list))
    .option("--write", "write values that are confirmed to be better into inferyard.yaml");
  addMeasuringFlags(command, 3).action(async (model: string | undefined, flags: TuneFlags & Record<string, unknown>) => {
    if (await runAsMeasuringChild(terminal, flags, model)) return;
    refuseUnknownSettings(flags.only ?? []);
    refuseTuned(flags);
    if (flags.rounds < 2) {
      throw new InferyardError("INPUT_INVALID", "one round does not tell a gain from chance", {
        remedy: "give --rounds 2 or more, or leave it out",
      });
    }
    const session = await openSession(terminal, { ...flags }, model);
    const { runtime, model: reference } = session;
    try {
      const [target = ""] = await runnableTargets(session, terminal.signal);
      const { cpu } = await runtime.machine();
      const { text } = await readManifest(reference);
      const plan = planFor(threadsFor(cpu), flags, text !== undefined);
      const result = await search(plan, measureWith(terminal, `${reference} on ${target}`, { target, count: flags.count }));
      const before = await effectiveSettings(terminal, flags.config === undefined ? {} : { config: flags.config });
      const found = changesOf(plan.start, result.best);
      const path = settingsPath({ environment: terminal.environment, directory: terminal.directory, ...fileOf(flags) });
      const report = `${reference} on ${target}, ${cpu.model.value}, ${cpu.quota.value} cores\n${formatTuning(plan, result)}`;
      const json = { model: reference, target, ...result, settings: found };
      writeLine(terminal.stdout, flags.json === true ? JSON.stringify(json) : report); // first: a file that cannot be written loses nothing
      if (flags.write === true && Object.keys(found).length > 0) {
        const { writeSettings } = await import("../../../settings/write.ts"); // the YAML library is slow to load
        await writeSettings(path, found);
      }
      if (flags.quiet === true || flags.json === true) return;
      const notes = [...notesOnFile(found, flags.write === true ? path : undefined), ...notesInTheWay(before, plan, result.best)];
      for (const note of notes) writeLine(terminal.stderr, note);
    } finally {
      await runtime.dispose();
    }
  });
}

const knobs: readonly Knob[] = ["threads", "replicas", "batchTokens"];
const batchSizes = [256, 512, 1024, 2048];

function refuseUnknownSettings(only: readonly string[]): void {
  const unknown = only.find((name) => !knobs.some((knob) => knob === name));
  if (unknown === undefined) return;
  throw new InferyardError("INPUT_INVALID", `"${unknown}" is not a setting that tune tries`, {
    remedy: `choose among ${knobs.join(", ")}`,
  });
}

/** Throws INPUT_INVALID for a flag that sets a value which tune varies. */
function refuseTuned(flags: Readonly<Record<string, unknown>>): void {
  const given = knobs.find((knob) => flags[knob] !== undefined);
  if (given === undefined) return;
  throw new InferyardError("INPUT_INVALID", `tune tries values of ${given} itself`, {
    remedy: "leave the flag out; --only chooses which settings are tried",
  });
}

/** Starts from the defaults: as many threads as the CPU quota, automatic replicas, batches of 512 tokens. */
function planFor(cores: number, { rounds, only = knobs }: TuneFlags, takesText: boolean): SearchPlan {
  const powers = [1, 2, 4, 8, 16, 32, 64].filter((number) => number < cores);
  const batchTokens = settingDefaults.batchTokens ?? 512;
  return {
    start: { threads: cores, replicas: "auto", batchTokens },
    values: {
      threads: only.includes("threads") ? [...powers, cores] : [],
      replicas: only.includes("replicas") ? ["auto", ...powers, cores] : [],
      batchTokens: only.includes("batchTokens") && takesText ? batchSizes : [], // tensors are not cut into batches
    },
    rounds,
    finalRounds: rounds + 2,
  };
}

function measureWith(terminal: Terminal, name: string, task: { readonly target: string; readonly count: number }): Measure {
  return async (points, rounds) => {
    const subjects = points.map((point) => ({ name: `${name} with ${spell(point)}`, task, flags: flagsOf(point) }));
    const outcomes = await runRounds(terminal, subjects, rounds);
    const [base] = outcomes;
    if (base?.failure !== undefined) throw new InferyardError("RUN_FAILED", `${name} cannot be measured: ${base.failure}`);
    return outcomes.map((outcome) => outcome.rounds);
  };
}

function spell({ threads, replicas, batchTokens }: Point): string {
  return `threads ${threads}, replicas ${replicas}, batchTokens ${batchTokens}`;
}

function flagsOf({ threads, replicas, batchTokens }: Point): string[] {
  return ["--threads", String(threads), "--replicas", String(replicas), "--batch-tokens", String(batchTokens)];
}

type Changes = { readonly [Name in Knob]?: Point[Name] };

function changesOf(start: Point, best: Point): Changes {
  return Object.fromEntries(knobs.filter((knob) => best[knob] !== start[knob]).map((knob) => [knob, best[knob]]));
}

function fileOf({ config }: TuneFlags): { readonly file?: string } {
  return config === undefined ? {} : { file: config };
}

function notesOnFile(found: Changes, written: string | undefined): string[] {
  if (Object.keys(found).length === 0) return [];
  return [written === undefined ? "--write puts this into inferyard.yaml" : `written to ${written}`];
}

/** Notes on values set elsewhere that differ from the result: environment variables override the file, and a configured value may be worse than the default. */
function notesInTheWay({ values, origins }: EffectiveSettings, { start, values: tried }: SearchPlan, best: Point): string[] {
  return knobs.flatMap((knob) => {
    const [origin, value] = [origins[knob], values[knob]];
    if (tried[knob].length === 0 || origin === undefined || origin === "default" || value === best[knob]) return [];
    if (best[knob] === start[knob]) return [`${origin} sets ${knob} to ${value}, and the default was not beaten: leave it out`];
    return origin.startsWith("INFERYARD_") ? [`${origin} sets ${knob} to ${value}, and wins over the file`] : [];
  });
}
