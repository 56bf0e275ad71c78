/** Symbol versions that a library requires, compared with the versions that the libraries of this machine define. */
import type { BinaryFile } from "../binaries/index.ts";
import type { FoundLibrary, FoundNeeds } from "./find-needed.ts";
import type { IndirectVersion, VersionRequirement, VersionSummary } from "./library-analysis.ts";

/** Each required version, and whether the library that was found defines it. */
export function checkVersions({ requiredVersions }: BinaryFile, found: readonly FoundLibrary[]): VersionRequirement[] {
  const byName = new Map(found.map(({ need, binary }) => [need.name, binary]));
  return requiredVersions.map((required) => ({
    ...required,
    isProvided: byName.get(required.library)?.definedVersions.includes(required.version),
  }));
}

/** Symbol versions that dependencies require and that the libraries found on this machine do not define. */
export function missingIndirectly({ direct, indirect }: FoundNeeds): IndirectVersion[] {
  const found = [...direct, ...indirect];
  return found.flatMap(({ need, binary }) =>
    binary === undefined
      ? []
      : checkVersions(binary, found)
          .filter(({ isProvided, isWeak }) => isProvided === false && isWeak !== true)
          .map(({ library, version }) => ({ library, version, neededBy: need.name })),
  );
}

/** The highest required version of each family that has numbers (GLIBC, GLIBCXX), beside the highest on this machine. */
export function summarizeVersions(requirements: readonly VersionRequirement[], found: readonly FoundLibrary[]): VersionSummary[] {
  const here = getHighest(found.flatMap(({ binary }) => binary?.definedVersions ?? []));
  const required = getHighest(requirements.map(({ version }) => version));
  return [...required].map(([family, { version }]) => {
    const ofFamily = requirements.filter((each) => parse(each.version)?.family === family);
    return {
      required: version,
      here: here.get(family)?.numbers.join("."),
      isProvided: ofFamily.some(({ isProvided }) => isProvided === undefined)
        ? undefined
        : ofFamily.every(({ isProvided }) => isProvided),
    };
  });
}

/** A version of a family: GLIBC_2.34 is 2.34 of GLIBC. */
interface NumberedVersion {
  readonly version: string;
  readonly family: string;
  readonly numbers: readonly number[];
}

function parse(version: string): NumberedVersion | undefined {
  const [, family, numbers] = /^(.+)_(\d+(?:\.\d+)*)$/.exec(version) ?? [];
  return family === undefined || numbers === undefined ? undefined : { version, family, numbers: numbers.split(".").map(Number) };
}

function getHighest(versions: readonly string[]): Map<string, NumberedVersion> {
  const highest = new Map<string, NumberedVersion>();
  for (const version of versions.flatMap((each) => parse(each) ?? [])) {
    const before = highest.get(version.family);
    if (before === undefined || compare(version.numbers, before.numbers) > 0) highest.set(version.family, version);
  }
  return highest;
}

function compare(a: readonly number[], b: readonly number[]): number {
  const index = Array.from({ length: Math.max(a.length, b.length) }, (_number, each) => each).find(
    (each) => (a[each] ?? 0) !== (b[each] ?? 0),
  );
  return index === undefined ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}
