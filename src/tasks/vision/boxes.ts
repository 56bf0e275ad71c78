/** Boxes in pictures: overlap, and non-maximum suppression. */

/** A box by its sides, in pixels of the picture as given (EXIF orientation applied); `xmax` and `ymax` are beyond it. */
export interface Box {
  readonly xmin: number;
  readonly ymin: number;
  readonly xmax: number;
  readonly ymax: number;
}

/** A box with the index of its label. */
export interface Candidate {
  readonly box: Box;
  readonly label: number;
  readonly score: number;
}

function area({ xmin, ymin, xmax, ymax }: Box): number {
  return Math.max(0, xmax - xmin) * Math.max(0, ymax - ymin);
}

/** Intersection over union, from 0 to 1. */
export function overlapOf(a: Box, b: Box): number {
  const shared = area({
    xmin: Math.max(a.xmin, b.xmin),
    ymin: Math.max(a.ymin, b.ymin),
    xmax: Math.min(a.xmax, b.xmax),
    ymax: Math.min(a.ymax, b.ymax),
  });
  const both = area(a) + area(b) - shared;
  return both > 0 ? shared / both : 0;
}

/**
 * Greedy non-maximum suppression: the best candidates first, without those that overlap a better one by more than `overlap`. Equal scores stay in order.
 * `perLabel`: candidates of different labels may overlap.
 */
export function suppressOverlaps(candidates: readonly Candidate[], overlap: number, perLabel: boolean): Candidate[] {
  const kept: Candidate[] = [];
  for (const candidate of candidates.toSorted((a, b) => b.score - a.score)) {
    const isCovered = kept.some(
      (better) => (!perLabel || better.label === candidate.label) && overlapOf(better.box, candidate.box) > overlap,
    );
    if (!isCovered) kept.push(candidate);
  }
  return kept;
}
