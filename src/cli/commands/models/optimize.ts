import { type Command, InvalidArgumentError } from "commander";
import { omitUndefined } from "../../../contract/checked.ts";
import type { FileReport } from "../../../programs/optimization/optimize-file.ts";
import type { TriedCandidate } from "../../../programs/optimization/optimization-report.ts";
import { parseSize } from "../../../runtime/options/size.ts";
import { formatBytes, plural } from "../../output/units.ts";
import { formatTable } from "../../output/table.ts";
import { withNotice } from "../../session.ts";
import { type Terminal, writeAll } from "../../terminal.ts";

interface OptimizeFlags {
  readonly backend?: string;
  readonly budget?: string;
  readonly size?: Readonly<Record<string, number>>;
  readonly maxMemory?: number;
  readonly fresh?: boolean;
  readonly out?: string;
  readonly replace?: boolean;
  readonly json?: boolean;
}

/** Defines the command `optimize`. */
export function defineOptimize(command: Command, terminal: Terminal): void {
  command
    .argument("<model>", "ONNX file with its weights inside")
    .option("--backend <name>", "backend that candidates are timed on: native, native:wasm, blas, xla:cpu (default: native)")
    .option("--budget <duration>", "time of the search; 0 changes nothing (default: 30s)")
    .option("--size <name=number>", "size of a free dimension to optimize for; may be repeated", parseSizes)
    .option("--max-memory <size>", "memory that a candidate may need (default: what is free)", parseSize)
    .option("--fresh", "search again although a result is kept on this machine")
    .option("--out <file>", "ONNX file to write, for any engine (default: none)")
    .option("--replace", "replace the file if it is there")
    .action(async (model: string, { out, size, json, ...flags }: OptimizeFlags) => {
      // Imported where it is needed: no other command compiles programs.
      const { optimizeFile } = await import("../../../programs/optimization/optimize-file.ts");
      const { backend, budget, maxMemory, fresh, replace } = flags;
      const options = omitUndefined({ backend, budget, sizes: size, maxMemory, fresh, output: out, replace });
      const report = await withNotice(
        terminal,
        `optimizing ${model}`,
        optimizeFile(model, { ...options, signal: terminal.signal }),
      );
      await writeAll(terminal.stdout, `${json === true ? JSON.stringify(report) : formatReport(report)}\n`);
    });
}

function parseSizes(text: string, before: Readonly<Record<string, number>> = {}): Readonly<Record<string, number>> {
  const [, name, number] = /^(.+)=(\d{1,9})$/.exec(text) ?? [];
  if (name === undefined) throw new InvalidArgumentError("Write NAME=NUMBER, for example batch=1.");
  return { ...before, [name]: Number(number) };
}

/** The report as text: what was tried, what was gained, and how far the result is from the roofline. */
function formatReport(report: FileReport): string {
  const { backend, sizes, speedup, originalMs, milliseconds, roofline, steps, settings, tried, searchMs, ended, notes, output } =
    report;
  const written = Object.entries(sizes).map(([name, size]) => `${name}=${size}`);
  const lines = [[backend, ...written].join("   ")];
  if (originalMs !== undefined && milliseconds !== undefined)
    lines.push(`${formatMs(originalMs)} before, ${formatMs(milliseconds)} after: ${speedup.toFixed(2)} times as fast`);
  if (roofline !== undefined)
    lines.push(
      `roofline ${formatMs(roofline.milliseconds)} (${roofline.gigaflops.toFixed(0)} GFLOP/s, ${roofline.gigabytesPerSecond.toFixed(1)} GB/s from memory): the result reaches ${(100 * roofline.share).toFixed(0)} %`,
    );
  const changes = [
    ...steps.map(({ rule, site }) => `${rule}${site === undefined ? ", wherever it matches" : ` at ${site}`}`),
    ...Object.entries(settings).map(([name, value]) => `setting ${name}: ${value}`),
  ];
  lines.push(...(changes.length === 0 ? ["nothing is faster"] : changes.map((change) => `  ${change}`)));
  const told = tried.filter(({ verdict }) => verdict !== "bounded");
  if (told.length > 0) lines.push(formatTable(told.map(toRow), ["tried", "verdict", "ms", "times", "reason"]));
  if (told.length < tried.length)
    lines.push(`${plural(tried.length - told.length, "candidate")} not timed: the roofline allows no gain`);
  lines.push(`${plural(tried.length, "candidate")} in ${(searchMs / 1000).toFixed(1)} s, ended by: ${ended}`, ...notes);
  if (output !== undefined) lines.push(`${output.path}   ${formatBytes(output.bytes)}`);
  return lines.join("\n");
}

function toRow({ change, site, depth, verdict, milliseconds, speedup, reason }: TriedCandidate): readonly string[] {
  const what = `${"+ ".repeat(depth)}${change}${site === undefined ? "" : ` at ${site}`}`;
  return [what, verdict, milliseconds?.toFixed(3) ?? "", speedup?.toFixed(2) ?? "", reason ?? ""];
}

function formatMs(milliseconds: number): string {
  return `${milliseconds < 10 ? milliseconds.toFixed(3) : milliseconds.toFixed(1)} ms`;
}
