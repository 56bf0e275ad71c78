/** Dotted versions, compared part by part as numbers: "12.10" is newer than "12.8". */
import { InferyardError } from "../errors.ts";

/**
 * Negative when `a` is older than `b`, positive when it is newer, 0 when they are equal. A part left out counts as 0, so "13"
 * equals "13.0". What follows a hyphen or a plus ("-rc.1", "+build") is not compared. Throws INPUT_INVALID for anything else.
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
    throw new InferyardError("INPUT_INVALID", `"${version}" is not a version`, {
      remedy: "write numbers separated by dots, for example 12.8",
      data: { version },
    });
  }
  return numbers.split(".").map(Number);
}
