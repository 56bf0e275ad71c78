/** Sets of code points of regular expressions, and their bytes. */
import { getOrInsert } from "../../../../contract/checked.ts";
import type { AST } from "@eslint-community/regexpp";
import { chargeSteps } from "../constraint-budget.ts";
import { constraintRefusal } from "../refusal.ts";
import { encodeUtf8 } from "./json-string.ts";

/** Code points from the first to the last, both included. */
export type CodePointRange = readonly [first: number, last: number];

const highest = 0x10ffff;
/** Every code point that UTF-8 has: all but surrogates. */
export const anyCodePoint: readonly CodePointRange[] = [
  [0, 0xd7ff],
  [0xe000, highest],
];

const digits: readonly CodePointRange[] = [[0x30, 0x39]];
const wordCharacters: readonly CodePointRange[] = [...digits, [0x41, 0x5a], [0x5f, 0x5f], [0x61, 0x7a]];
/** As ECMAScript has it for \s. */
const spaces: readonly CodePointRange[] = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const lineEnds: readonly CodePointRange[] = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
];

/** Steps of looking for a property: all code points are looked at. */
const propertySteps = 500_000;

/** A part of an expression that reads one character. */
export type CharacterElement = AST.Character | AST.CharacterSet | AST.CharacterClass | AST.ExpressionCharacterClass;

/** Flags of an expression that concern its characters. */
export interface CharacterSettings {
  readonly ignoreCase: boolean;
  readonly dotAll: boolean;
}

/** The code points that a part reads, ascending. Throws INPUT_INVALID for sets of strings and operations on sets (flag v). */
export function characterSet(element: CharacterElement, settings: CharacterSettings): readonly CodePointRange[] {
  const ranges = getRanges(element, settings);
  return normalized(settings.ignoreCase ? withCases(ranges) : ranges);
}

function getRanges(element: CharacterElement, settings: CharacterSettings): readonly CodePointRange[] {
  switch (element.type) {
    case "Character":
      return [[element.value, element.value]];
    case "CharacterSet":
      return escapedSet(element, settings);
    case "CharacterClass": {
      const members = element.elements.flatMap((member): readonly CodePointRange[] => {
        if (member.type === "CharacterClassRange") return [[member.min.value, member.max.value]];
        if (member.type === "Character" || member.type === "CharacterSet") return getRanges(member, settings);
        throw constraintRefusal(`${element.raw} in a regular expression is not supported`, "write it without nested sets");
      });
      const all = settings.ignoreCase ? withCases(members) : members;
      return element.negate ? complement(all) : all;
    }
    case "ExpressionCharacterClass":
      throw constraintRefusal(`${element.raw} in a regular expression is not supported`, "write it without operations on sets");
    default:
      return element satisfies never;
  }
}

function escapedSet(element: AST.CharacterSet, { dotAll }: CharacterSettings): readonly CodePointRange[] {
  if (element.kind === "any") return dotAll ? anyCodePoint : complement(lineEnds);
  if (element.kind === "property") return propertyRanges(element.raw);
  const set = element.kind === "digit" ? digits : element.kind === "word" ? wordCharacters : spaces;
  return element.negate ? complement(set) : set;
}

/** The code points that this engine's own regular expression matches. */
function propertyRanges(source: string): readonly CodePointRange[] {
  const known = properties.get(source);
  if (known !== undefined) return known;
  const ranges = findProperty(source);
  if (properties.size < maxProperties) properties.set(source, ranges);
  return ranges;
}

/** Properties that were looked for, by their source; a few are used again and again. */
const properties = new Map<string, readonly CodePointRange[]>();
const maxProperties = 64;

function findProperty(source: string): readonly CodePointRange[] {
  chargeSteps(propertySteps);
  const ranges: CodePointRange[] = [];
  const block = 0x1000;
  for (let start = 0; start <= highest; start += block) {
    if (start >= 0xd800 && start <= 0xdfff) continue;
    const points = Array.from({ length: block }, (_, index) => start + index).filter((point) => point < 0xd800 || point > 0xdfff);
    for (const [run] of String.fromCodePoint(...points).matchAll(new RegExp(`${source}+`, "gu")))
      ranges.push([run.codePointAt(0) ?? 0, getLastPoint(run)]);
  }
  return normalized(ranges);
}

function getLastPoint(run: string): number {
  const last = run.codePointAt(run.length - 2) ?? 0;
  return last > 0xffff ? last : run.charCodeAt(run.length - 1);
}

/** Ranges ascending, without overlaps and surrogates. */
function normalized(ranges: readonly CodePointRange[]): readonly CodePointRange[] {
  const merged: [number, number][] = [];
  for (const [first, last] of ranges.toSorted((left, right) => left[0] - right[0])) {
    const previous = merged.at(-1);
    if (previous !== undefined && first <= previous[1] + 1) previous[1] = Math.max(previous[1], last);
    else merged.push([first, last]);
  }
  return merged.flatMap(([first, last]) =>
    anyCodePoint
      .map(([from, to]): CodePointRange => [Math.max(first, from), Math.min(last, to)])
      .filter(([from, to]) => from <= to),
  );
}

function complement(ranges: readonly CodePointRange[]): readonly CodePointRange[] {
  const others: CodePointRange[] = [];
  let next = 0;
  for (const [first, last] of normalized(ranges)) {
    if (first > next) others.push([next, first - 1]);
    next = last + 1;
  }
  if (next <= highest) others.push([next, highest]);
  return normalized(others);
}

/** Range with the other case of every letter. Beyond the basic multilingual plane case is not looked at. */
function withCases(ranges: readonly CodePointRange[]): readonly CodePointRange[] {
  const others: CodePointRange[] = [];
  for (const [first, last] of ranges) {
    chargeSteps(4 * Math.max(0, Math.min(last, 0xffff) - first));
    for (let point = first; point <= Math.min(last, 0xffff); point += 1) {
      const character = String.fromCodePoint(point);
      for (const other of [character.toLowerCase(), character.toUpperCase()]) {
        const code = other.codePointAt(0) ?? point;
        if (other.length === 1 && code !== point) others.push([code, code]);
      }
    }
  }
  return [...ranges, ...others];
}

/** Ranges of bytes one after another. */
type ByteSequence = readonly ByteRange[];
type ByteRange = readonly [first: number, last: number];

/** Ranges of bytes, each with its successor; the last byte of a character has none. Equal trees are the same object. */
export type ByteTree = readonly { readonly first: number; readonly last: number; readonly next: ByteTree }[];

const trees = new WeakMap<readonly CodePointRange[], ByteTree>();

/** The bytes of code points in UTF-8. */
export function byteTree(ranges: readonly CodePointRange[]): ByteTree {
  const known = trees.get(ranges);
  if (known !== undefined) return known;
  chargeSteps(50 * ranges.length);
  const shared = new Map<string, ByteTree>();
  const treeOf = (sequences: readonly ByteSequence[]): ByteTree => {
    const key = JSON.stringify(sequences);
    const same = shared.get(key);
    if (same !== undefined) return same;
    const tails = new Map<string, { readonly range: ByteRange; readonly tails: ByteSequence[] }>();
    for (const [range, ...tail] of sequences) {
      if (range === undefined) continue;
      const group = getOrInsert(tails, String(range), () => ({ range, tails: [] }));
      if (tail.length > 0) group.tails.push(tail);
    }
    const tree = [...tails.values()].map(({ range: [first, last], tails: behind }) => ({ first, last, next: treeOf(behind) }));
    shared.set(key, tree);
    return tree;
  };
  const tree = treeOf(byteSequences(ranges));
  trees.set(ranges, tree);
  return tree;
}

/** The bytes of code points in UTF-8: sequences of ranges that together have exactly these. */
function byteSequences(ranges: readonly CodePointRange[]): readonly ByteSequence[] {
  return ranges.flatMap(([first, last]) =>
    [0x7f, 0x7ff, 0xffff, highest].flatMap((end, index) =>
      split(Math.max(first, [0, 0x80, 0x800, 0x10000][index] ?? 0), Math.min(last, end)),
    ),
  );
}

/** Sequences of one length. */
function split(first: number, last: number): readonly ByteSequence[] {
  if (first > last) return [];
  const [low, high] = [encodeUtf8(first), encodeUtf8(last)];
  for (let shift = 6; shift < 6 * low.length; shift += 6) {
    const block = 2 ** shift;
    if (Math.floor(first / block) === Math.floor(last / block)) continue;
    // Both ends are whole blocks, or the parts before and after are apart.
    if (first % block !== 0) {
      const end = Math.ceil(first / block) * block - 1;
      return [...split(first, end), ...split(end + 1, last)];
    }
    if ((last + 1) % block !== 0) {
      const start = Math.floor(last / block) * block;
      return [...split(first, start - 1), ...split(start, last)];
    }
  }
  return [low.map((byte, index) => [byte, high[index] ?? byte] as const)];
}
