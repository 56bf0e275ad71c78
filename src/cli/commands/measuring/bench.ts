import { loadavg } from "node:os";
import { type Command, Option } from "commander";
import type { Runtime } from "../../../api/runtime.ts";
import { InferyardError } from "../../../contract/errors.ts";
import { type Measurement, measuredMachine, recordMeasurements } from "../../../measurements/index.ts";
import { type MeasuringFlags, addMeasuringFlags, runAsMeasuringChild } from "../../measuring/flags.ts";
import type { Round } from "../../measuring/measure-round.ts";
import { type Outcome, figuresOf, runRounds } from "../../measuring/rounds.ts";
import { median } from "../../measuring/statistics.ts";
import { type Session, list, openSession } from "../../session.ts";
import { formatTable } from "../../output/table.ts";
import { type Terminal, writeLine } from "../../terminal.ts";
import { formatBytes, formatMilliseconds, plural } from "../../output/units.ts";
import { explainFetched, runnableTargets } from "./runnable-targets.ts";

interface BenchFlags extends MeasuringFlags {
  readonly targets?: readonly string[];
  readonly record?: boolean;
  readonly quiet?: boolean;
}

interface Row {
  readonly target: string;
  readonly outcome: Outcome;
}

/** Defines the command `bench`. */
export function defineBench(command: Command, terminal: Terminal): void {
  command
    .argument("[model]", "model reference")
    .addOption(new Option("--targets <targets>", "measure these only, for example onnx:cpu,wasm:cpu").argParser(list))
    .option("--record", 'record the result, for the policy "fastest"');
  addMeasuringFlags(command, 3).action(async (model: string | undefined, flags: BenchFlags) => {
    if (await runAsMeasuringChild(terminal, flags, model)) return;
    const session = await openSession(terminal, { ...flags }, model);
    const { runtime, settings, model: reference } = session;
    try {
      const load = loadavg()[0] ?? 0;
      const chosen = await targetsToMeasure(session, terminal.signal, flags.targets);
      const subjects = chosen.targets.map((target) => ({
        name: `${reference} on ${target}`,
        task: { target, count: flags.count },
        flags: [],
      }));
      const outcomes = await runRounds(terminal, subjects, flags.rounds);
      const measured = chosen.targets.map((target, index): Row => ({ target, outcome: outcomes[index] ?? { rounds: [] } }));
      const rows = [...measured, ...chosen.refused.map(({ target, reason }) => ({ target, outcome: { failure: reason } }))];
      const paths = flags.record === true ? await record(runtime, rows) : [];
      if (flags.json === true) {
        const targets = rows.map(({ target, outcome }) => ({ target, ...toJson(outcome) }));
        return writeLine(terminal.stdout, JSON.stringify({ model: reference, targets, recorded: paths }));
      }
      await print(terminal, runtime, reference, rows, load);
      if (flags.quiet === true) return;
      for (const path of paths) writeLine(terminal.stderr, `kept in ${path}`);
      if (paths.length > 0)
        writeLine(
          terminal.stderr,
          `inferyard explain ${reference}${settings.variant === undefined ? "" : ` --variant ${settings.variant}`} --policy fastest uses it`,
        );
    } finally {
      await runtime.dispose();
    }
  });
}

interface Choice {
  readonly targets: readonly string[];
  /** Asked for by name, and not able to run. */
  readonly refused: readonly { readonly target: string; readonly reason: string }[];
}

async function targetsToMeasure(session: Session, signal: AbortSignal, named: readonly string[] | undefined): Promise<Choice> {
  if (named === undefined) return { targets: await runnableTargets(session, signal), refused: [] };
  const { candidates } = await explainFetched(session, signal, named);
  const able = candidates.filter(({ verdict }) => verdict === "would-run" || verdict === "not-tried");
  if (able.length === 0) await runnableTargets(session, signal, named); // says why
  const refused = candidates.filter(({ verdict, stage }) => verdict === "refused" && stage !== "constraints");
  return { targets: able.map(({ target }) => target), refused };
}

/** Stores the measurements and returns the paths of their files. */
async function record(runtime: Runtime, rows: readonly Row[]): Promise<string[]> {
  const machine = measuredMachine(await runtime.machine());
  const at = new Date().toISOString();
  const measurements = rows.flatMap(({ target, outcome }): Measurement[] => {
    const last = outcome.rounds?.at(-1);
    if (last === undefined) return [];
    const { model, library, threads, settings } = last;
    return [{ at, machine, model, target, library, threads, settings, figures: figuresOf(outcome.rounds ?? []) }];
  });
  if (measurements.length > 0) return recordMeasurements(measurements);
  const reasons = rows.map(({ target, outcome }) => `  ${target}  ${outcome.failure ?? ""}`);
  throw new InferyardError("RUN_FAILED", ["no target could be measured, so nothing is kept", ...reasons].join("\n"));
}

function toJson({ rounds, failure }: Outcome): object {
  if (rounds === undefined) return { failure };
  return { measurement: { ...figuresOf(rounds), tokensPerSecond: tokensPerSecond(rounds) }, rounds };
}

function tokensPerSecond(rounds: readonly Round[]): number {
  return median(rounds.map((round) => round.tokensPerSecond));
}

async function print(terminal: Terminal, runtime: Runtime, model: string, rows: readonly Row[], load: number): Promise<void> {
  const { cpu, platform } = await runtime.machine();
  const busy = platform === "win32" ? [] : [`load ${load.toFixed(1)} before`]; // Windows has no such figure
  const rounds = Math.max(0, ...rows.map(({ outcome }) => outcome.rounds?.length ?? 0));
  const machine = [cpu.model.value, `${cpu.quota.value} cores`, `Node.js ${process.versions.node}`];
  writeLine(terminal.stdout, `${model} on ${[...machine, plural(rounds, "round"), ...busy].join(", ")}`);
  const unit = rows.find(({ outcome }) => outcome.rounds !== undefined)?.outcome.rounds?.[0]?.unit ?? "texts";
  const one = unit === "texts" ? "one text" : "one run";
  const head = [
    "target",
    "load",
    one,
    "rounds from - to",
    `${unit}/s (bulk)`,
    ...(unit === "texts" ? ["tokens/s"] : []),
    "memory",
  ];
  const measured = rows.flatMap(({ target, outcome }) => (outcome.rounds === undefined ? [] : [cells(target, outcome.rounds)]));
  if (measured.length > 0) writeLine(terminal.stdout, formatTable(measured, head));
  const failed = rows.flatMap(({ target, outcome }) =>
    outcome.failure === undefined ? [] : [[target, `failed: ${outcome.failure}`]],
  );
  if (failed.length > 0) writeLine(terminal.stdout, formatTable(failed));
}

function cells(target: string, rounds: readonly Round[]): string[] {
  const { loadMs, latencyMs, latencyRangeMs, perSecond, memoryBytes, unit } = figuresOf(rounds);
  return [
    target,
    formatMilliseconds(loadMs),
    formatMilliseconds(latencyMs),
    latencyRangeMs.map(formatMilliseconds).join(" - "),
    perSecond.toFixed(0),
    ...(unit === "texts" ? [tokensPerSecond(rounds).toFixed(0)] : []),
    formatBytes(Math.max(0, memoryBytes)),
  ];
}
