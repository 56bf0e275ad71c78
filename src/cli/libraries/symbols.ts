/** Output of `analyze-library --symbols`. */
import type { LibraryAnalysis } from "../../libraries/analysis/index.ts";
import { demangle } from "../../libraries/demangling/demangle.ts";
import { formatTable, printable } from "../output/table.ts";

/** A table for each kind of symbols that the library has: direction and name; C++ names are demangled. */
export function formatSymbols({ symbols }: LibraryAnalysis): string[] {
  return Object.entries(symbols).flatMap(([group, { exported, imported }]) => {
    const rows = [...getRows("exported", exported), ...getRows("imported", imported)];
    return rows.length === 0 ? [] : [`${group} symbols`, formatTable(rows)];
  });
}

function getRows(direction: string, names: readonly string[]): string[][] {
  return names
    .map((name) => printable(demangle(name), 200))
    .sort()
    .map((name) => [direction, name]);
}
