/** Packs atoms into chunks greedily: each chunk ends at the best break in the second half of its room, and is verified by counting its tokens. */
import { findLowerBound } from "../encoding/binary-search.ts";
import { throwIfAborted } from "../../contract/errors.ts";
import { createYielder } from "../encoding/yielding.ts";
import type { Atoms } from "./atoms.ts";
import { boundaries } from "../../tokenizers/unicode/segmentation.ts";
import { breakPriorities } from "./structure.ts";
import type { TokenCounter } from "./token-counter.ts";

/** Maximum length of a chunk in UTF-16 code units per token of the target; bounds chunks of text for which the tokenizer gives no tokens. */
const unitsPerToken = 32;

/** Limits for `pack`. */
export interface PackLimits {
  /** Maximum number of tokens of a chunk. */
  readonly target: number;
  /** Maximum number of tokens that a chunk repeats of the one before. */
  readonly overlap: number;
  /** Maximum number of chunks; Infinity: no limit. */
  readonly maxChunks: number;
}

/** A chunk as a range of the text, in UTF-16 code units: start included, end excluded. */
export interface Span {
  readonly start: number;
  readonly end: number;
  /** Number of tokens of the range alone, special tokens not counted. */
  readonly tokens: number;
}

/** A position in the text, and the atom that contains it or starts there. */
interface Position {
  readonly position: number;
  readonly atom: number;
}

/** Packs the atoms of a text into chunks. `complete`: whether the end of the text was reached before `maxChunks`. Rejects with ABORTED. */
export async function packSpans(
  text: string,
  atoms: Atoms,
  counter: TokenCounter,
  limits: PackLimits,
  signal: AbortSignal | undefined,
): Promise<{ spans: Span[]; complete: boolean }> {
  const { ends } = atoms;
  const spans: Span[] = [];
  const maybeYield = createYielder();
  let next: Position = { position: 0, atom: 0 };
  while (next.position < text.length && spans.length < limits.maxChunks) {
    throwIfAborted(signal);
    const start = spans.length === 0 ? next : overlapStart(atoms, next, spans.at(-1)?.start ?? 0, limits.overlap);
    const span = fit(start, next) ?? fit(next, next) ?? cutAtom(next);
    spans.push(span);
    next = { position: span.end, atom: atomAt(span.end) };
    await maybeYield();
  }
  return { spans, complete: next.position >= text.length };

  /** The atom that contains a position. */
  function atomAt(position: number): number {
    return findLowerBound(ends, (end) => end > position, next.atom);
  }

  /** A chunk of whole atoms from `start` that includes at least the atom of `core`; undefined if that exceeds the target. */
  function fit(start: Position, core: Position): Span | undefined {
    let budget = limits.target;
    for (let attempt = 0; ; attempt += 1) {
      const last = lastAtom(atoms, start.atom, core.atom, budget, start.position + limits.target * unitsPerToken);
      if (last === undefined) return undefined;
      const end = ends[last] ?? text.length;
      const tokens = counter.count(text.slice(start.position, end));
      if (tokens <= limits.target) return { start: start.position, end, tokens };
      if (last === core.atom) return undefined;
      const weight = (atoms.cumulativeTokens[last] ?? 0) - (atoms.cumulativeTokens[start.atom - 1] ?? 0);
      // Lower the estimate by the excess; after three attempts halve it.
      budget = Math.min(budget - 1, attempt < 3 ? weight - (tokens - limits.target) : weight / 2);
    }
  }

  /** Splits an atom that exceeds the target: as many of its graphemes as fit, at least one. */
  function cutAtom({ position, atom }: Position): Span {
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
 * The last atom of a chunk: of the breaks with the highest priority in the second half of the budget the last one. If the second half has only
 * breaks inside blocks, the best break of the first half. Undefined if the atom `core`, which the chunk must include, does not fit.
 */
function lastAtom(
  { ends, cumulativeTokens, priorities }: Atoms,
  first: number,
  core: number,
  budget: number,
  maxEnd: number,
): number | undefined {
  const before = cumulativeTokens[first - 1] ?? 0;
  const beyond = Math.min(
    findLowerBound(cumulativeTokens, (tokens) => tokens - before > budget + tokenTolerance, core),
    findLowerBound(ends, (end) => end > maxEnd, core),
  );
  if (beyond === core) return core === first ? core : undefined;
  let early: number | undefined;
  let late: number | undefined;
  for (let atom = core; atom < beyond; atom += 1) {
    const priority = priorities[atom] ?? 0;
    if (priority === breakPriorities.forced) return atom;
    if ((cumulativeTokens[atom] ?? 0) - before >= budget / 2) late = getBetter(late, atom);
    else early = getBetter(early, atom);
  }
  if (beyond === cumulativeTokens.length) return beyond - 1;
  const latePriority = late === undefined ? Number.NEGATIVE_INFINITY : (priorities[late] ?? 0);
  const earlyPriority = early === undefined ? Number.NEGATIVE_INFINITY : (priorities[early] ?? 0);
  return latePriority < 0 && earlyPriority >= breakPriorities.segment ? early : (late ?? early);

  function getBetter(best: number | undefined, atom: number): number {
    return best !== undefined && (priorities[best] ?? 0) > (priorities[atom] ?? 0) ? best : atom;
  }
}

/** The start of a chunk that repeats the end of the one before: of the breaks that repeat at least half of `overlap` the one with the highest priority. */
function overlapStart(
  { ends, cumulativeTokens, priorities }: Atoms,
  next: Position,
  previousStart: number,
  overlap: number,
): Position {
  if (overlap === 0 || ends[next.atom - 1] !== next.position) return next;
  const end = cumulativeTokens[next.atom - 1] ?? 0;
  let best: number | undefined;
  for (let atom = next.atom - 2; atom >= 0; atom -= 1) {
    const weight = end - (cumulativeTokens[atom] ?? 0);
    if (weight > overlap || (ends[atom] ?? 0) <= previousStart) break;
    const isLate = best !== undefined && end - (cumulativeTokens[best] ?? 0) >= overlap / 2;
    if (best === undefined || !isLate || (priorities[atom] ?? 0) >= (priorities[best] ?? 0)) best = atom;
  }
  return best === undefined ? next : { position: ends[best] ?? next.position, atom: best + 1 };
}

/** Tolerance for sums of fractional token counts. */
const tokenTolerance = 1e-6;
