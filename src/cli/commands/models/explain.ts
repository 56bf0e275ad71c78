import type { Command } from "commander";
import type { Candidate, Decision, Verdict } from "../../../runtime/decision/decision.ts";
import { packedPrecision } from "../../../runtime/selection/variant-selection.ts";
import { readManifest } from "../../../models/index.ts";
import { addPlacementFlags, openSession } from "../../session.ts";
import { spellFlags } from "../../remedy-flags.ts";
import { formatTable } from "../../output/table.ts";
import { type Terminal, writeLine } from "../../terminal.ts";
import { formatBytes } from "../../output/units.ts";

/** Defines the command `explain`. */
export function defineExplain(command: Command, terminal: Terminal): void {
  addPlacementFlags(command.argument("[model]", "model reference")).action(
    async (model: string | undefined, flags: Record<string, unknown>) => {
      const session = await openSession(terminal, flags, model, { isReport: true });
      const { variant } = session.settings;
      const decision = await session.runtime.explain(session.model, variant === undefined ? {} : { variant });
      if (flags["json"] === true) return writeLine(terminal.stdout, JSON.stringify(decision));
      const { memory } = await session.runtime.machine();
      const manifest = await readManifest(session.model);
      const largest = Math.max(...manifest.variants.map(({ bytes }) => bytes));
      const isPacked = packedPrecision(manifest.variants, variant) !== undefined;
      writeLine(terminal.stdout, headline(manifest, decision));
      writeLine(terminal.stdout, formatDecision(decision, command));
      writeLine(
        terminal.stdout,
        `weights take up to ${formatBytes(largest)}${isPacked ? " in their files" : ""}; ${formatBytes(memory.available.value)} of memory is available`,
      );
    },
  );
}

function headline(manifest: Awaited<ReturnType<typeof readManifest>>, decision: Decision): string {
  const formats = [...new Set(manifest.variants.map(({ format }) => format))].map((format) => {
    const names = manifest.variants.filter((variant) => variant.format === format).map(({ name }) => name);
    return `${format} (${names.join(", ")})`;
  });
  return [manifest.name, ...manifest.tasks.slice(0, 1), formats.join(", "), `policy ${decision.constraints.policy}`].join("   ");
}

const verdictWords: Readonly<Record<Verdict, string>> = {
  selected: "selected",
  "would-run": "would run",
  refused: "refused",
  failed: "failed",
  "not-tried": "next",
};

/** The candidates as a table, with each remedy, which names flags of the command, below its reason, and the variants that cannot be read. */
export function formatDecision({ candidates, model: { unreadable = [] } }: Decision, command: Command): string {
  const why = ({ reason, note }: Candidate): string => (note === undefined ? reason : `${reason}; ${note}`);
  const rows = candidates.map((candidate) => [candidate.target, verdictWords[candidate.verdict], why(candidate)]);
  const remedies = candidates.map(({ remedy }) => (remedy === undefined ? undefined : spellFlags(remedy, command)));
  const leftOut = unreadable.map(({ variant, reason }) => `without ${variant}: ${reason}`);
  return [formatTable(rows, ["target", "verdict", "why"], remedies), ...leftOut].join("\n");
}
