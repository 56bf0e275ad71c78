/** Suggestions for misspelled names in error messages. */

/** Longest name that gets a suggestion, in characters: the comparison takes time in proportion to the product of both lengths. */
const maxNameLength = 128;

/**
 * The candidate with the smallest edit distance to `name`, without regard to case; undefined if the distance exceeds a third of the letters of `name` (one
 * for names of up to five letters). An edit inserts, deletes or replaces a letter, or swaps two adjacent ones.
 */
export function nearestName(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > maxNameLength) return undefined;
  const allowed = Math.max(1, Math.floor(name.length / 3));
  let best: { candidate: string; edits: number } | undefined;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) > allowed) continue; // the distance is at least the difference in length
    const edits = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (edits <= allowed && edits < (best?.edits ?? Infinity)) best = { candidate, edits };
  }
  return best?.candidate;
}

/** Optimal string alignment distance (Damerau 1964), computed row by row. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const changed = a[row - 1] === b[column - 1] ? 0 : 1;
      let edits = Math.min(at(above, column) + 1, at(current, column - 1) + 1, at(above, column - 1) + changed);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) edits = Math.min(edits, at(before, column - 2) + 1);
      current.push(edits);
    }
    before = above;
    above = current;
  }
  return at(above, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
