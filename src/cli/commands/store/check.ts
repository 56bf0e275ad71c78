import type { Command } from "commander";
import { InferyardError } from "../../../contract/errors.ts";
import { openStore } from "../../model-store.ts";
import { withNotice } from "../../session.ts";
import { formatTable } from "../../output/table.ts";
import { type Terminal, writeLine } from "../../terminal.ts";
import { formatBytes, plural } from "../../output/units.ts";

/** Defines the command `check`. */
export function defineCheck(command: Command, terminal: Terminal): void {
  command
    .argument("[model]", "its reference, or its name in the store")
    .action(async (model: string | undefined, { json }: { readonly json?: boolean }) => {
      const checking = openStore(terminal).check(model, { signal: terminal.signal });
      const report = await withNotice(terminal, `checking ${model ?? "the store"}`, checking);
      const { models, files, bytes, damaged } = report;
      if (json === true) writeLine(terminal.stdout, JSON.stringify(report));
      else if (damaged.length > 0) {
        const rows = damaged.map(({ name, file, problem }) => [name, file, problem]);
        writeLine(
          terminal.stdout,
          formatTable(
            rows,
            ["model", "file", "problem"],
            damaged.map(({ remedy }) => remedy),
          ),
        );
      } else {
        const what = `${plural(models.length, "model")}, ${plural(files, "file")}, ${formatBytes(bytes)}`;
        writeLine(terminal.stdout, `${what}: every file is as it was pulled`);
      }
      if (damaged.length === 0) return;
      throw new InferyardError(
        "MODEL_INVALID",
        `${plural(damaged.length, "file")} of the store ${damaged.length === 1 ? "is" : "are"} damaged`,
        {
          remedy: [...new Set(damaged.map(({ remedy }) => remedy))].join("; "),
          data: { damaged },
        },
      );
    });
}
