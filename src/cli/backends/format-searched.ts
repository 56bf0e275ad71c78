/** Where backends looked for their libraries, as text. */
import type { BackendReport } from "../../runtime/reports.ts";
import { formatTable } from "../output/table.ts";

/** A table for each backend that looks in several locations; empty if none does. */
export function formatSearched(reports: readonly BackendReport[]): string {
  return reports
    .flatMap(({ backend, availability: { searched } }) => {
      if (searched === undefined) return [];
      const rows = searched.map(({ path = "-", rule, outcome, libraries, notes }) => [
        outcome === "found" ? `found ${libraries}` : outcome,
        path,
        [rule, ...notes].join("; "),
      ]);
      return [`${backend} looked for plugins in`, formatTable(rows)];
    })
    .join("\n");
}
