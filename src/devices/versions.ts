/** Comparison of dotted versions, part by part as numbers: "12.10" is newer than "12.8". */
import { InferyardError } from "../errors.ts";

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
    throw new InferyardError("INPUT_INVALID", `"${version}" is not a version`, {
      remedy: "write numbers separated by dots, for example 12.8",
      data: { version },
    });
  }
  return numbers.split(".").map(Number);
}
