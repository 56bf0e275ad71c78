/** Atoms to chunks: each as full as its best cut allows, held to the target by counting it whole. */
import { throwIfAborted } from "../../errors.ts";
import { createYielder } from "../shared/yielding.ts";
import type { Atoms } from "./atoms.ts";
import { boundaries } from "../../tokenizers/unicode/segmentation.ts";
import { breakPriorities } from "./structure.ts";
import type { TokenCounter } from "./token-counter.ts";

/** No chunk is longer than so many UTF-16 units for each token of the target: text that the tokenizer counts as nothing must end, too. */
const unitsPerToken = 32;

export interface PackLimits {
  readonly target: number;
  readonly overlap: number;
  readonly maxChunks: number;
}

/** A stretch of the text, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
  readonly tokens: number;
}

/** A place in the text, and the atom it lies in or begins. */
interface Place {
  readonly position: number;
  readonly atom: number;
}

export async function pack(
  text: string,
  atoms: Atoms,
  counter: TokenCounter,
  limits: PackLimits,
  signal: AbortSignal | undefined,
): Promise<{ spans: Span[]; complete: boolean }> {
  const { ends } = atoms;
  const spans: Span[] = [];
  const rest = createYielder();
  let next: Place = { position: 0, atom: 0 };
  while (next.position < text.length && spans.length < limits.maxChunks) {
    throwIfAborted(signal);
    const start = spans.length === 0 ? next : overlapStart(atoms, next, spans.at(-1)?.start ?? 0, limits.overlap);
    const span = fit(start, next) ?? fit(next, next) ?? cutAtom(next);
    spans.push(span);
    next = { position: span.end, atom: atomAt(span.end) };
    await rest();
  }
  return { spans, complete: next.position >= text.length };

  /** The atom that holds the character at a position. */
  function atomAt(position: number): number {
    return lowestIndex(ends, next.atom, (end) => end > position);
  }

  /** A chunk of whole atoms that begins at `start` and goes beyond `core`; undefined where not one fits. */
  function fit(start: Place, core: Place): Span | undefined {
    let budget = limits.target;
    for (let attempt = 0; ; attempt += 1) {
      const last = lastAtom(atoms, start.atom, core.atom, budget, start.position + limits.target * unitsPerToken);
      if (last === undefined) return undefined;
      const end = ends[last] ?? text.length;
      const tokens = counter.count(text.slice(start.position, end));
      if (tokens <= limits.target) return { start: start.position, end, tokens };
      if (last === core.atom) return undefined;
      const weight = (atoms.weights[last] ?? 0) - (atoms.weights[start.atom - 1] ?? 0);
      // What is too much is taken off; where that does not help, half of what is left.
      budget = Math.min(budget - 1, attempt < 3 ? weight - (tokens - limits.target) : weight / 2);
    }
  }

  /** As many graphemes of one atom as fit; at least one. */
  function cutAtom({ position, atom }: Place): Span {
    const end = ends[atom] ?? text.length;
    const cuts = [...boundaries(text, "grapheme", position, end), end];
    for (let kept = cuts.length; ; kept = Math.floor(kept / 2)) {
      const cut = cuts[kept - 1] ?? end;
      const tokens = counter.count(text.slice(position, cut));
      if (tokens <= limits.target || kept === 1) return { start: position, end: cut, tokens };
    }
  }
}

/**
 * The last atom of a chunk: the latest of the gladdest cuts in the second half of the room; where the second half has only cuts of last
 * resort, the best of the first half. Undefined where `core`, which must be in it, has no room.
 */
function lastAtom(
  { ends, weights, ranks: cutRanks }: Atoms,
  first: number,
  core: number,
  budget: number,
  farthest: number,
): number | undefined {
  const before = weights[first - 1] ?? 0;
  const beyond = Math.min(
    lowestIndex(weights, core, (weight) => weight - before > budget + rounding),
    lowestIndex(ends, core, (end) => end > farthest),
  );
  if (beyond === core) return core === first ? core : undefined;
  let early: number | undefined;
  let late: number | undefined;
  for (let atom = core; atom < beyond; atom += 1) {
    const rank = cutRanks[atom] ?? 0;
    if (rank === breakPriorities.forced) return atom;
    if ((weights[atom] ?? 0) - before >= budget / 2) late = betterOf(late, atom);
    else early = betterOf(early, atom);
  }
  if (beyond === weights.length) return beyond - 1;
  const lateRank = late === undefined ? Number.NEGATIVE_INFINITY : (cutRanks[late] ?? 0);
  const earlyRank = early === undefined ? Number.NEGATIVE_INFINITY : (cutRanks[early] ?? 0);
  return lateRank < 0 && earlyRank >= breakPriorities.segment ? early : (late ?? early);

  function betterOf(best: number | undefined, atom: number): number {
    return best !== undefined && (cutRanks[best] ?? 0) > (cutRanks[atom] ?? 0) ? best : atom;
  }
}

/** Where a chunk begins that repeats the end of the one before: the gladdest cut in the second half of what may be repeated. */
function overlapStart({ ends, weights, ranks: cutRanks }: Atoms, next: Place, previousStart: number, overlap: number): Place {
  if (overlap === 0 || ends[next.atom - 1] !== next.position) return next;
  const end = weights[next.atom - 1] ?? 0;
  let best: number | undefined;
  for (let atom = next.atom - 2; atom >= 0; atom -= 1) {
    const weight = end - (weights[atom] ?? 0);
    if (weight > overlap || (ends[atom] ?? 0) <= previousStart) break;
    const isLate = best !== undefined && end - (weights[best] ?? 0) >= overlap / 2;
    if (best === undefined || !isLate || (cutRanks[atom] ?? 0) >= (cutRanks[best] ?? 0)) best = atom;
  }
  return best === undefined ? next : { position: ends[best] ?? next.position, atom: best + 1 };
}

/** Shares of words are fractions, whose sums are not exact. */
const rounding = 1e-6;

/** The first index from `from` whose value passes; the length where none does. The values that pass must come after those that do not. */
function lowestIndex(values: readonly number[], from: number, passes: (value: number) => boolean): number {
  let low = from;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (passes(values[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return low;
}
