import { loadavg } from "node:os";
import { type Command, Option } from "commander";
import type { Runtime } from "../../../api/runtime.ts";
import { omitUndefined } from "../../../contract/checked.ts";
import type { Benchmark, Figures } from "../../../measuring/index.ts";
import { type MeasuringFlags, addMeasuringFlags, measureWithNotice } from "../../measuring/flags.ts";
import { parseListFlag } from "../../option-flags.ts";
import { withSession } from "../../session.ts";
import { formatTable } from "../../output/table.ts";
import { type Terminal, writeLine } from "../../terminal.ts";
import { formatBytes, formatMilliseconds, plural } from "../../output/units.ts";

interface BenchFlags extends MeasuringFlags {
  readonly targets?: readonly string[];
  readonly record?: boolean;
}

/** Defines the command `bench`. */
export function defineBench(command: Command, terminal: Terminal): void {
  command
    .argument("[model]", "model reference")
    .addOption(new Option("--targets <targets>", "measure these only, for example onnx:cpu,wasm:cpu").argParser(parseListFlag))
    .option("--record", 'record the result, for the policy "fastest"');
  addMeasuringFlags(command).action(async (model: string | undefined, flags: BenchFlags) => {
    await withSession(terminal, flags, model, async (session) => {
      const { runtime, settings, model: reference } = session;
      const { targets: target = settings.target, record } = flags;
      const { batchTokens } = settings;
      // Imported on demand, since it imports all tasks, which --help does not need.
      const [{ benchmarkModel }, { skippedRows, throwUnmet }] = await Promise.all([
        import("../../../measuring/index.ts"),
        import("../../measuring/target-reports.ts"),
      ]);
      const load = loadavg()[0] ?? 0;
      const benchmark = await measureWithNotice(terminal, session, flags, (options) =>
        benchmarkModel({ ...options, ...omitUndefined({ target, batchTokens, record }) }),
      );
      if (flags.json === true) writeLine(terminal.stdout, JSON.stringify(benchmark));
      else await print(terminal, runtime, benchmark, skippedRows(benchmark.targets), load);
      if (flags.quiet !== true && flags.json !== true) {
        for (const path of benchmark.recorded) writeLine(terminal.stderr, `kept in ${path}`);
        const variant = settings.variant === undefined ? "" : ` --variant ${settings.variant}`;
        if (benchmark.recorded.length > 0)
          writeLine(terminal.stderr, `inferyard explain ${reference}${variant} --policy fastest uses it`);
      }
      throwUnmet(benchmark, target, "RUN_FAILED", "could not be measured");
    });
  });
}

/** A column of the table: its title, and the cell for a target. A column without any cell is left out. */
interface Column {
  readonly title: (unit: string) => string;
  cell(figures: Figures): string | undefined;
}

const perSecond = (value: number | undefined): string | undefined => value?.toFixed(0);

const columns: readonly Column[] = [
  { title: () => "load", cell: ({ loadMs }) => formatMilliseconds(loadMs) },
  { title: (unit) => `one ${unit.slice(0, -1)}`, cell: ({ latencyMs }) => formatMilliseconds(latencyMs) },
  { title: () => "rounds from - to", cell: ({ latencyRangeMs }) => latencyRangeMs.map(formatMilliseconds).join(" - ") },
  { title: () => "prompt tokens/s", cell: ({ promptTokensPerSecond }) => perSecond(promptTokensPerSecond) },
  { title: () => "decoded tokens/s", cell: ({ decodeTokensPerSecond }) => perSecond(decodeTokensPerSecond) },
  { title: (unit) => `${unit}/s (bulk)`, cell: ({ perSecond: all }) => (all < 10 ? all.toFixed(2) : all.toFixed(0)) },
  { title: () => "tokens/s", cell: ({ tokensPerSecond }) => perSecond(tokensPerSecond) },
  { title: () => "memory", cell: ({ memoryBytes }) => formatBytes(Math.max(0, memoryBytes)) },
];

async function print(
  terminal: Terminal,
  runtime: Runtime,
  { model, targets }: Benchmark,
  skipped: readonly string[][],
  load: number,
): Promise<void> {
  const { cpu, platform } = await runtime.machine();
  const busy = platform === "win32" ? [] : [`load ${load.toFixed(1)} before`]; // Windows has no such figure
  const measured = targets.flatMap(({ target, figures }) => (figures === undefined ? [] : [{ target, figures }]));
  const rounds = Math.max(0, ...measured.map(({ figures }) => figures.rounds));
  const machine = [cpu.model.value, `${cpu.quota.value} cores`, `Node.js ${process.versions.node}`];
  writeLine(terminal.stdout, `${model} on ${[...machine, plural(rounds, "round"), ...busy].join(", ")}`);
  const [first] = measured;
  if (first !== undefined) {
    const used = columns.filter(({ cell }) => measured.some(({ figures }) => cell(figures) !== undefined));
    const rows = measured.map(({ target, figures }) => [target, ...used.map(({ cell }) => cell(figures) ?? "")]);
    writeLine(terminal.stdout, formatTable(rows, ["target", ...used.map(({ title }) => title(first.figures.unit))]));
  }
  const failed = targets.flatMap(({ target, verdict, reason = "" }) => (verdict === "fail" ? [[target, "failed", reason]] : []));
  const others = [...failed, ...skipped];
  if (others.length > 0) writeLine(terminal.stdout, formatTable(others));
}
