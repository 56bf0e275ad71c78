/** Patterns and the split behaviors of the Rust library (`Pattern`, `SplitDelimiterBehavior`). */
import { getMessage } from "../contract/errors.ts";
import { characterLength } from "./alignment/aligned-text.ts";
import { parseRegex, quoted } from "../regular-expressions/parse.ts";
import { compileRegex } from "../regular-expressions/automaton.ts";
import { RegexSearch } from "../regular-expressions/search.ts";

/** Finds all matches in a text, flattened: start, end, start, end, ..., in UTF-16 code units. A match may be empty. */
export type Pattern = (text: string) => readonly number[];

/** Creates the pattern of a literal text or a regular expression. Throws Error for an expression that cannot be matched in linear time. */
export function createPattern(pattern: { readonly text: string } | { readonly regex: string }): Pattern {
  return "regex" in pattern ? searchedPattern(pattern.regex) : textPattern(pattern.text);
}

function searchedPattern(source: string): Pattern {
  const node = parseRegex(source);
  try {
    const search = new RegexSearch(compileRegex(node));
    return (text) => search.matches(text);
  } catch (error) {
    throw new Error(`the regular expression ${quoted(source)} is too large: ${getMessage(error)}`, { cause: error });
  }
}

/** As in the Rust library, an empty text matches before, between and after all characters. */
function textPattern(searched: string): Pattern {
  if (searched === "") return betweenCharacters;
  return (text) => {
    const matches: number[] = [];
    for (let at = text.indexOf(searched); at >= 0; at = text.indexOf(searched, at + searched.length))
      matches.push(at, at + searched.length);
    return matches;
  };
}

function betweenCharacters(text: string): readonly number[] {
  const matches = [0, 0];
  for (let at = 0; at < text.length;) {
    at += characterLength(text, at);
    matches.push(at, at);
  }
  return matches;
}

/**
 * Pattern of a JavaScript regular expression with the flag g, and u or v. Only for expressions in this source: JavaScript's engine backtracks, which takes
 * exponential time for some expressions, so expressions of a model's file must not run on it.
 */
export function regexPattern(regex: RegExp): Pattern {
  return (text) => {
    const matches: number[] = [];
    let lastEnd = -1;
    regex.lastIndex = 0;
    for (let found = regex.exec(text); found !== null; found = regex.exec(text)) {
      const end = regex.lastIndex;
      const start = end - found[0].length;
      if (start < end) matches.push(start, end);
      else {
        // An empty match directly after the previous match is skipped; the search must advance after an empty match.
        if (start !== lastEnd) matches.push(start, end);
        if (end >= text.length) break;
        if (start === lastEnd) regex.lastIndex = end + characterLength(text, end);
      }
      lastEnd = end;
    }
    return matches;
  };
}

/** Creates a pattern that matches every single character for whose code point `matches` returns true. */
export function characterPattern(matches: (point: number) => boolean): Pattern {
  return (text) => {
    const found: number[] = [];
    for (let unit = 0; unit < text.length; unit++) {
      const length = characterLength(text, unit);
      const point = length === 2 ? (text.codePointAt(unit) ?? 0) : text.charCodeAt(unit);
      if (matches(point)) found.push(unit, unit + length);
      unit += length - 1;
    }
    return found;
  };
}

/**
 * What happens to a match when a text is split at it: removed, a piece of its own, joined to the piece before or after, or joined to adjacent
 * matches.
 */
export const splitBehaviors = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"] as const;
/** What happens to a match when a text is split at it (`SplitDelimiterBehavior` of the Rust library). */
export type SplitBehavior = (typeof splitBehaviors)[number];

/**
 * Splits a text of `length` UTF-16 code units at matches and appends the pieces to `bounds`, flattened (start, end, ...) and shifted by `shift`.
 * `invert`: the text between matches is treated as the matches. Empty pieces are dropped.
 */
export function splitAtMatches(
  matches: readonly number[],
  length: number,
  behavior: SplitBehavior,
  invert: boolean,
  shift: number,
  bounds: number[],
): void {
  const parts: Part[] = [];
  let at = 0;
  for (let index = 0; index < matches.length; index += 2) {
    const start = matches[index] as number;
    const end = matches[index + 1] as number;
    if (at < start) parts.push({ start: at, end: start, match: invert });
    parts.push({ start, end, match: !invert });
    at = end;
  }
  if (at < length) parts.push({ start: at, end: length, match: invert });
  for (const { start, end } of merged(parts, behavior)) if (start < end) bounds.push(start + shift, end + shift);
}

interface Part {
  readonly start: number;
  end: number;
  readonly match: boolean;
}

function merged(parts: Part[], behavior: SplitBehavior): readonly Part[] {
  switch (behavior) {
    case "Isolated":
      return parts;
    case "Removed":
      return parts.filter(({ match }) => !match);
    case "Contiguous":
      return joined(parts, (part, before) => part.match === before);
    case "MergedWithPrevious":
      return joined(parts, (part, before) => part.match && !before);
    case "MergedWithNext": {
      // Mirror image of MergedWithPrevious.
      const mirrored = parts.toReversed().map(({ start, end, match }) => ({ start: -end, end: -start, match }));
      const back = joined(mirrored, (part, before) => part.match && !before);
      return back.toReversed().map(({ start, end, match }) => ({ start: -end, end: -start, match }));
    }
  }
}

/** Joins parts to the one before if `joins` says so. `before`: whether the part before was a match. */
function joined(parts: readonly Part[], joins: (part: Part, before: boolean) => boolean): Part[] {
  const result: Part[] = [];
  let before = false;
  for (const part of parts) {
    const last = result.at(-1);
    if (last !== undefined && joins(part, before)) last.end = part.end;
    else result.push({ ...part });
    before = part.match;
  }
  return result;
}
