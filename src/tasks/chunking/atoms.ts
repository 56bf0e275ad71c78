/** A text as atoms: pieces that are counted once and never looked into again, unless one alone is too much for a chunk. */
import { createYielder } from "../shared/yielding.ts";
import { throwIfAborted } from "../../errors.ts";
import { boundaries, isGraphemeStart } from "../../tokenizers/unicode/segmentation.ts";
import { type TextStructure, breakPriorities } from "./structure.ts";
import type { TokenCounter } from "./token-counter.ts";

/** Every list has an entry per atom. */
export interface Atoms {
  /** Where each atom ends, in UTF-16 units: the start of a grapheme, or the end of the text. */
  readonly ends: readonly number[];
  /** How glad a cut at its end is. */
  readonly ranks: number[];
  /** Tokens of this atom and all before it, as counted one by one: what the whole takes is close to it. */
  readonly weights: readonly number[];
}

/** Longest atom, in UTF-16 units; only a longer grapheme is longer. */
const maxAtomUnits = 64;
/** Longest word, in UTF-16 units, that is counted whole; a longer run without spaces is counted in pieces alone. */
const maxWordUnits = 512;

export async function splitIntoAtoms(
  text: string,
  structure: TextStructure,
  counter: TokenCounter,
  target: number,
  signal: AbortSignal | undefined,
): Promise<Atoms> {
  const ends: number[] = [];
  const cutRanks: number[] = [];
  const weights: number[] = [];
  const rest = createYielder();
  let start = 0;
  let total = 0;
  const add = (end: number, rank: number): void => {
    total += weightOf(start, end);
    ends.push(end);
    cutRanks.push(rank);
    weights.push(total);
    start = end;
  };
  const weightOf = (from: number, to: number): number => {
    const piece = text.slice(from, to);
    // A word is counted with the space before it, as most tokenizers see it; that space then weighs nothing.
    return piece === " " ? 0 : counter.countPiece(text[from - 1] === " " ? ` ${piece}` : piece);
  };
  // No atom is more than an eighth of a chunk where it can be cut further, so that chunks come out full.
  const heaviest = Math.max(1, target / 8);
  const addStretch = (end: number, rank: number): void => {
    const isWord = end - start <= maxWordUnits;
    const whole = isWord ? weightOf(start, end) : Number.POSITIVE_INFINITY;
    if (whole <= heaviest && end - start <= maxAtomUnits) {
      add(end, rank);
      return;
    }
    const first = weights.length;
    const before = total;
    for (const [cut, cutRank] of cutsWithin(text, start, end)) addHalved(cut, cut === end ? rank : cutRank);
    if (!isWord || total === before) return;
    // A word in pieces has more tokens than the word: they share what it has.
    const share = whole / (total - before);
    for (let index = first; index < weights.length; index += 1)
      weights[index] = before + ((weights[index] ?? 0) - before) * share;
    total = before + whole;
  };
  const addHalved = (end: number, rank: number): void => {
    const middle = weightOf(start, end) <= heaviest ? undefined : graphemeNear(text, start, end);
    if (middle === undefined) {
      add(end, rank);
      return;
    }
    addHalved(middle, breakPriorities.inside);
    addHalved(end, rank);
  };
  for (const { position, rank } of candidates(text, structure)) {
    if (position < text.length && !isGraphemeStart(text, position, start)) continue;
    addStretch(position, rank);
    const turn = rest();
    if (turn !== undefined) {
      await turn;
      throwIfAborted(signal);
    }
  }
  return { ends, ranks: cutRanks, weights };
}

/** Where spaces begin and end, and every mark of the structure; the end of the text last. */
function* candidates(text: string, { marks, wordRank }: TextStructure): Generator<{ position: number; rank: number }, void> {
  let next = 0;
  const runs = /\s+|\S+/g;
  for (let run = runs.exec(text); run !== null; run = runs.exec(text)) {
    const position = runs.lastIndex;
    for (let mark = marks[next]; mark !== undefined && mark.position < position; mark = marks[next]) {
      if (mark.position > 0) yield mark;
      next += 1;
    }
    const mark = marks[next];
    const own = /^\s/.test(run[0]) ? wordRank : breakPriorities.inside;
    yield { position, rank: mark?.position === position ? Math.max(mark.rank, own) : own };
    if (mark?.position === position) next += 1;
  }
}

/** Cuts of a long stretch: between words as Unicode sees them, and every so many characters inside of those; its end last. */
function* cutsWithin(text: string, from: number, to: number): Generator<readonly [number, number], void> {
  let start = from;
  for (const word of boundaries(text, "word", from, to)) {
    if (!isGraphemeStart(text, word, start)) continue;
    yield* piecesWithin(text, start, word);
    yield [word, breakPriorities.segment];
    start = word;
  }
  yield* piecesWithin(text, start, to);
  yield [to, breakPriorities.segment];
}

function* piecesWithin(text: string, from: number, to: number): Generator<readonly [number, number], void> {
  if (to - from <= maxAtomUnits) return;
  let start = from;
  let previous = from;
  for (const position of boundaries(text, "grapheme", from, to)) {
    if (position - start > maxAtomUnits && previous > start) {
      yield [previous, breakPriorities.inside];
      start = previous;
    }
    previous = position;
  }
  if (to - start > maxAtomUnits && previous > start) yield [previous, breakPriorities.inside];
}

/** The grapheme start nearest below the middle, or the first above it; undefined in a single grapheme. */
function graphemeNear(text: string, from: number, to: number): number | undefined {
  let found: number | undefined;
  for (const position of boundaries(text, "grapheme", from, to)) {
    if (found !== undefined && position > (from + to) / 2) return found;
    found = position;
  }
  return found;
}

/** Makes cuts inside of stretches that fit in one chunk a last resort. */
export function penalizeBreaksInBlocks(
  { ends, ranks: cutRanks, weights }: Atoms,
  blocks: TextStructure["blocks"],
  target: number,
): void {
  let first = 0;
  for (const [from, to] of blocks) {
    while ((ends[first] ?? Number.POSITIVE_INFINITY) <= from) first += 1;
    let atom = first;
    while ((ends[atom] ?? Number.POSITIVE_INFINITY) < to) atom += 1;
    const weight = (weights[atom] ?? 0) - (weights[first - 1] ?? 0);
    if (weight > target) continue;
    for (let inside = first; inside < atom; inside += 1) cutRanks[inside] = lastResort + (cutRanks[inside] ?? 0);
  }
}

/** Added to the rank of a cut that is made only where there is no other. */
const lastResort = -1_000_000;
