/**
 * Splits a text into atoms, the smallest units that chunks are assembled from. The tokens of an atom are counted once; an atom is split only if
 * it alone exceeds the target.
 */
import { createYielder } from "../encoding/yielding.ts";
import { throwIfAborted } from "../../contract/errors.ts";
import { boundaries, isGraphemeStart } from "../../tokenizers/unicode/segmentation.ts";
import { type TextStructure, breakPriorities } from "./structure.ts";
import type { TokenCounter } from "./token-counter.ts";

/** The atoms of a text, as parallel arrays with one entry per atom. */
export interface Atoms {
  /** End of the atom in UTF-16 code units: the start of a grapheme, or the end of the text. */
  readonly ends: readonly number[];
  /** Priority of a break after the atom (`breakPriorities`). */
  readonly priorities: number[];
  /** Cumulative number of tokens up to the end of the atom. Atoms are counted separately, so this estimates the tokens of the joined text. */
  readonly cumulativeTokens: readonly number[];
}

/** Maximum length of an atom in UTF-16 code units; exceeded only by a single longer grapheme. */
const maxAtomUnits = 64;
/** Maximum length in UTF-16 code units of a word that is counted as a whole; longer runs without spaces are counted in parts. */
const maxWordUnits = 512;

/**
 * Splits a text at its break opportunities and words. `target`: maximum number of tokens of a chunk; where possible an atom has at most an eighth
 * of it. Yields to the event loop. Rejects with ABORTED.
 */
export async function splitIntoAtoms(
  text: string,
  structure: TextStructure,
  counter: TokenCounter,
  target: number,
  signal: AbortSignal | undefined,
): Promise<Atoms> {
  const ends: number[] = [];
  const priorities: number[] = [];
  const cumulativeTokens: number[] = [];
  const maybeYield = createYielder();
  let start = 0;
  let total = 0;
  const add = (end: number, priority: number): void => {
    total += countTokens(start, end);
    ends.push(end);
    priorities.push(priority);
    cumulativeTokens.push(total);
    start = end;
  };
  const countTokens = (from: number, to: number): number => {
    const piece = text.slice(from, to);
    // A word is counted together with the space before it, as most tokenizers do; that space then counts 0.
    return piece === " " ? 0 : counter.countPiece(text[from - 1] === " " ? ` ${piece}` : piece);
  };
  // Atoms of at most an eighth of the target, so that chunks can be filled well.
  const maxAtomTokens = Math.max(1, target / 8);
  const addRun = (end: number, priority: number): void => {
    const isWord = end - start <= maxWordUnits;
    const whole = isWord ? countTokens(start, end) : Number.POSITIVE_INFINITY;
    if (whole <= maxAtomTokens && end - start <= maxAtomUnits) {
      add(end, priority);
      return;
    }
    const first = cumulativeTokens.length;
    const before = total;
    for (const [cut, partPriority] of breaksInRun(text, start, end)) addHalved(cut, cut === end ? priority : partPriority);
    if (!isWord || total === before) return;
    // The parts of a word have more tokens in sum than the word: scale them to its count.
    const share = whole / (total - before);
    for (let index = first; index < cumulativeTokens.length; index += 1)
      cumulativeTokens[index] = before + ((cumulativeTokens[index] ?? 0) - before) * share;
    total = before + whole;
  };
  const addHalved = (end: number, priority: number): void => {
    const middle = countTokens(start, end) <= maxAtomTokens ? undefined : middleGrapheme(text, start, end);
    if (middle === undefined) {
      add(end, priority);
      return;
    }
    addHalved(middle, breakPriorities.inside);
    addHalved(end, priority);
  };
  for (const { position, priority } of breakPositions(text, structure)) {
    if (position < text.length && !isGraphemeStart(text, position, start)) continue;
    addRun(position, priority);
    const yielded = maybeYield();
    if (yielded !== undefined) {
      await yielded;
      throwIfAborted(signal);
    }
  }
  return { ends, priorities, cumulativeTokens };
}

/** All positions where an atom may end: both ends of white space, the break opportunities of the structure, and the end of the text. */
function* breakPositions(
  text: string,
  { breaks, wordPriority }: TextStructure,
): Generator<{ position: number; priority: number }, void> {
  let next = 0;
  const runs = /\s+|\S+/g;
  for (let run = runs.exec(text); run !== null; run = runs.exec(text)) {
    const position = runs.lastIndex;
    for (
      let opportunity = breaks[next];
      opportunity !== undefined && opportunity.position < position;
      opportunity = breaks[next]
    ) {
      if (opportunity.position > 0) yield opportunity;
      next += 1;
    }
    const opportunity = breaks[next];
    const own = /^\s/.test(run[0]) ? wordPriority : breakPriorities.inside;
    yield { position, priority: opportunity?.position === position ? Math.max(opportunity.priority, own) : own };
    if (opportunity?.position === position) next += 1;
  }
}

/** Break positions inside a long run without spaces: Unicode word boundaries (UAX #29), grapheme boundaries inside long words, and its end. */
function* breaksInRun(text: string, from: number, to: number): Generator<readonly [number, number], void> {
  let start = from;
  for (const word of boundaries(text, "word", from, to)) {
    if (!isGraphemeStart(text, word, start)) continue;
    yield* breaksInWord(text, start, word);
    yield [word, breakPriorities.segment];
    start = word;
  }
  yield* breaksInWord(text, start, to);
  yield [to, breakPriorities.segment];
}

function* breaksInWord(text: string, from: number, to: number): Generator<readonly [number, number], void> {
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

/** The last grapheme boundary up to the middle, otherwise the first after it; undefined for a single grapheme. */
function middleGrapheme(text: string, from: number, to: number): number | undefined {
  let found: number | undefined;
  for (const position of boundaries(text, "grapheme", from, to)) {
    if (found !== undefined && position > (from + to) / 2) return found;
    found = position;
  }
  return found;
}

/** Lowers the priority of breaks inside blocks that fit into one chunk, so that such a block is split only if there is no other break. */
export function penalizeBreaksInBlocks(
  { ends, priorities, cumulativeTokens }: Atoms,
  blocks: TextStructure["blocks"],
  target: number,
): void {
  let first = 0;
  for (const [from, to] of blocks) {
    while ((ends[first] ?? Number.POSITIVE_INFINITY) <= from) first += 1;
    let atom = first;
    while ((ends[atom] ?? Number.POSITIVE_INFINITY) < to) atom += 1;
    const weight = (cumulativeTokens[atom] ?? 0) - (cumulativeTokens[first - 1] ?? 0);
    if (weight > target) continue;
    for (let inside = first; inside < atom; inside += 1) priorities[inside] = insideBlockPenalty + (priorities[inside] ?? 0);
  }
}

/** Added to the priority of a break inside a block. */
const insideBlockPenalty = -1_000_000;
