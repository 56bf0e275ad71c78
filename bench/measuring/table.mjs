// Aligned columns: the first to the left, the others to the right.

export function formatTable(head, rows) {
  const lines = [head, ...rows];
  const widths = head.map((_title, column) => Math.max(...lines.map((line) => String(line[column] ?? "").length)));
  return lines
    .map((line) =>
      line
        .map((cell, column) => padded(String(cell ?? ""), widths[column], column))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function padded(cell, width, column) {
  return column === 0 ? cell.padEnd(width) : cell.padStart(width);
}
