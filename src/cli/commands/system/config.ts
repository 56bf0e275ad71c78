import type { Command } from "commander";
import { settingNames } from "../../../settings/settings.ts";
import { addBulkLoadFlags, effectiveSettings } from "../../session.ts";
import { formatTable } from "../../output/table.ts";
import { type Terminal, writeLine } from "../../terminal.ts";

/** Defines the command `config`. */
export function defineConfig(command: Command, terminal: Terminal): void {
  addBulkLoadFlags(command).action(async (flags: Record<string, unknown>) => {
    const { values, origins } = await effectiveSettings(terminal, flags);
    if (flags["json"] === true) {
      const report = settingNames.map((name) => [name, { value: values[name] ?? null, from: origins[name] ?? null }]);
      return writeLine(terminal.stdout, JSON.stringify(Object.fromEntries(report)));
    }
    const rows = settingNames.map((name) => [name, spell(values[name]), origins[name] ?? "not set"]);
    writeLine(terminal.stdout, formatTable(rows, ["setting", "value", "from"]));
  });
}

function spell(value: unknown): string {
  if (value === undefined) return "-";
  if (Array.isArray(value)) return value.join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
