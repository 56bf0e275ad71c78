/** The name a person probably meant: for messages about unknown names. */

/** Longer names get no suggestion: the comparison takes time in proportion to both lengths. */
const maxNameLength = 128;

/**
 * The candidate with the fewest typing slips (a letter missing, added, changed, or two swapped; capitals do not count),
 * if there are few enough for a slip: one in names of up to four letters, a third of the letters in longer ones.
 */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > maxNameLength) return undefined;
  const allowed = Math.max(1, Math.floor(name.length / 3));
  let best: { candidate: string; slips: number } | undefined;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) > allowed) continue; // so many slips at least
    const slips = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (slips <= allowed && slips < (best?.slips ?? Infinity)) best = { candidate, slips };
  }
  return best?.candidate;
}

/** Optimal string alignment distance (Damerau 1964, each place edited once), row by row. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const changed = a[row - 1] === b[column - 1] ? 0 : 1;
      let slips = Math.min(at(above, column) + 1, at(current, column - 1) + 1, at(above, column - 1) + changed);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) slips = Math.min(slips, at(before, column - 2) + 1);
      current.push(slips);
    }
    before = above;
    above = current;
  }
  return at(above, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
