import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Command, Option } from "commander";
import { InferyardError, messageOf } from "../../errors.ts";
import { type Measurement, measureTarget } from "../measure-target.ts";
import { addLoadFlags, openSession, withNotice } from "../session.ts";
import { formatTable } from "../table.ts";
import { type Terminal, writeLine } from "../terminal.ts";
import { formatBytes, formatMilliseconds } from "../units.ts";
import { runnableTargets } from "./runnable-targets.ts";

type Row = { readonly target: string } & ({ readonly measurement: Measurement } | { readonly failure: string });

export function addBench(program: Command, terminal: Terminal): void {
  const command = program
    .command("bench")
    .description("a model on every target that can run it, each in a process of its own: load, latency, throughput, memory")
    .argument("[model]", "model reference")
    .addOption(new Option("--here <target>", "measure this target in this process").hideHelp());
  addLoadFlags(command).action(async (model: string | undefined, flags: Record<string, unknown>) => {
    const session = await openSession(terminal, flags, model);
    const { runtime, settings, model: reference } = session;
    try {
      const here = flags["here"];
      if (typeof here === "string") {
        return writeLine(terminal.stdout, JSON.stringify(await measureTarget(runtime, reference, here, settings.variant)));
      }
      const targets = await runnableTargets(session, terminal.signal);
      const rows: Row[] = [];
      for (const target of targets) {
        rows.push(
          await withNotice(terminal, `measuring ${reference} on ${target}`, measureInChild(reference, target, process.argv)),
        );
      }
      if (flags["json"] === true) return writeLine(terminal.stdout, JSON.stringify({ model: reference, targets: rows }));
      const { cpu } = await runtime.machine();
      writeLine(
        terminal.stdout,
        `${reference} on ${cpu.model.value}, ${cpu.quota.value} cores, Node.js ${process.versions.node}`,
      );
      writeLine(
        terminal.stdout,
        formatTable(rows.map(cells), ["target", "load", "one text (p50)", "texts/s (bulk)", "tokens/s", "memory"]),
      );
    } finally {
      await runtime.dispose();
    }
  });
}

function cells(row: Row): string[] {
  if ("failure" in row) return [row.target, `failed: ${row.failure}`];
  const { loadMs, latencyMs, textsPerSecond, tokensPerSecond, memoryBytes } = row.measurement;
  return [
    row.target,
    formatMilliseconds(loadMs),
    formatMilliseconds(latencyMs),
    textsPerSecond.toFixed(0),
    tokensPerSecond.toFixed(0),
    formatBytes(memoryBytes),
  ];
}

const run = promisify(execFile);

/** Memory of one target is only told apart from another's in a process of its own. */
async function measureInChild(model: string, target: string, argv: readonly string[]): Promise<Row> {
  const program = argv[1] ?? fileURLToPath(import.meta.url);
  const args = argv.slice(2).filter((word) => word !== "--json");
  try {
    const { stdout } = await run(process.execPath, [program, ...args, "--here", target], { maxBuffer: 1 << 24 });
    return { target, measurement: JSON.parse(stdout) as Measurement };
  } catch (error) {
    const stderr = typeof error === "object" && error !== null && "stderr" in error ? String(error.stderr).trim() : "";
    if (stderr === "")
      throw new InferyardError("RUN_FAILED", `measuring ${model} on ${target} failed: ${messageOf(error)}`, { cause: error });
    return { target, failure: stderr.split("\n")[0]?.replace(/^inferyard: /, "") ?? "" };
  }
}
