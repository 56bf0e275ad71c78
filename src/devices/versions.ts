/** Comparison of dotted versions, part by part as numbers ("12.10" is newer than "12.8"), and ranges of versions as npm writes them. */
import { invalidInput } from "../contract/errors.ts";

/**
 * Compares version numbers part by part: negative if `a` is older than `b`, positive if it is newer, 0 if they are equal. A
 * missing part counts as 0, so "13" equals "13.0". A suffix after a hyphen or plus ("-rc.1", "+build") is ignored. Throws
 * INPUT_INVALID for text that is not a version.
 */
export function compareVersions(a: string, b: string): number {
  const left = parts(a);
  const right = parts(b);
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return Math.sign(difference);
  }
  return 0;
}

function parts(version: string): readonly number[] {
  const numbers = /^\s*(\d+(?:\.\d+)*)(?:[-+]\S*)?\s*$/.exec(version)?.[1];
  if (numbers === undefined) {
    throw invalidInput(`"${version}" is not a version`, "write numbers separated by dots, for example 12.8", { version });
  }
  return numbers.split(".").map(Number);
}

/** One comparator of a range: an operator and a version whose missing or "x" parts stand for any number. */
const comparator = /^(?<operator>>=|<=|>|<|=|\^|~)?\s*v?(?<parts>(?:\d+|[x*])(?:\.(?:\d+|[x*])){0,2})(?:[-+]\S*)?$/i;

/**
 * Whether a version is in a semantic version range: comparators (">=1.24 <2", "1.x", "^1.24.1", "~1.24", "=1.24.0"), ranges with a
 * hyphen ("1.24 - 1.30"), and alternatives separated by "||". As with `compareVersions`, suffixes such as "-rc.1" are ignored.
 * Throws INPUT_INVALID for text that is not a version or not a range.
 */
export function isInRange(version: string, range: string): boolean {
  const alternatives = range.split("||").map((alternative) => getComparators(alternative, range));
  return alternatives.some((comparators) =>
    comparators.every(({ operator, parts }) => {
      const from = compareVersions(version, parts.length === 0 ? "0" : parts.join("."));
      const next = nextVersion(operator, parts);
      const isBelowNext = next === undefined || compareVersions(version, next) < 0;
      if (operator === ">=") return from >= 0;
      if (operator === "<") return from < 0;
      if (operator === ">") return from > 0 && !(isBelowNext && parts.length < 3);
      if (operator === "<=") return isBelowNext;
      return from >= 0 && isBelowNext;
    }),
  );
}

interface Comparator {
  readonly operator: string;
  /** The numbers that are stated. */
  readonly parts: readonly number[];
}

function getComparators(alternative: string, range: string): readonly Comparator[] {
  const text = alternative.trim().replace(/^(\S+)\s+-\s+(\S+)$/, ">=$1 <=$2");
  const words = text.replaceAll(/(>=|<=|>|<|=|\^|~)\s+/g, "$1").split(/\s+/);
  return words.map((word) => {
    const groups = comparator.exec(word === "" ? "*" : word)?.groups;
    if (groups?.["parts"] === undefined) {
      throw invalidInput(`"${range}" is not a range of versions`, 'write comparators such as ">=1.24 <2"', { range });
    }
    const written = groups["parts"].split(".");
    const free = written.findIndex((part) => !/\d/.test(part));
    return { operator: groups["operator"] ?? "=", parts: written.slice(0, free === -1 ? undefined : free).map(Number) };
  });
}

/** The first version after those that a comparator means; undefined if there is none. "^" keeps the first number that is not 0, "~" the second number. */
function nextVersion(operator: string, parts: readonly number[]): string | undefined {
  if (parts.length === 0) return undefined;
  const firstNonZero = parts.findIndex((part) => part > 0);
  const kept = operator === "^" ? (firstNonZero === -1 ? parts.length - 1 : firstNonZero) : operator === "~" ? 1 : 2;
  const last = Math.min(kept, parts.length - 1);
  return parts
    .slice(0, last + 1)
    .with(last, (parts[last] ?? 0) + 1)
    .join(".");
}
