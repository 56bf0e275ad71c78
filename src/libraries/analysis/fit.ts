/** Whether a library fits this machine and this program, by its tables. */
import type { BinaryFile } from "../binaries/index.ts";
import type { AnalysisHost } from "./host.ts";
import type { Fit, IndirectNeed, LibraryAnalysis, NeededLibrary, VersionRequirement } from "./library-analysis.ts";

/** Formats that each operating system loads. */
const systems: Readonly<
  Record<
    Exclude<BinaryFile["format"], "archive" | "coff">,
    { readonly platforms: readonly NodeJS.Platform[]; readonly title: string }
  >
> = {
  elf: { platforms: ["linux", "android", "freebsd", "openbsd", "sunos"], title: "Linux and other Unix systems" },
  "mach-o": { platforms: ["darwin"], title: "macOS" },
  pe: { platforms: ["win32"], title: "Windows" },
};

/** Compares the facts of a library with this machine, and with the needed libraries that were found. */
export function checkFit(
  binary: BinaryFile,
  host: AnalysisHost,
  {
    needs,
    indirectNeeds,
    versions,
    missingVersions,
  }: Pick<LibraryAnalysis, "needs" | "indirectNeeds" | "versions" | "missingVersions">,
): Fit {
  const all: readonly (NeededLibrary & Via)[] = [...needs, ...indirectNeeds];
  const unprovided: readonly (Pick<VersionRequirement, "library" | "version"> & Via)[] = [
    ...versions.filter(({ isProvided, isWeak }) => isProvided === false && isWeak !== true),
    ...missingVersions,
  ];
  const problems = [
    ...machineProblems(binary, host),
    ...all.filter(({ status }) => status === "missing").map((need) => `${needsVia(need)} ${need.name}, ${absence(need)}`),
    ...all
      .filter(({ foundBy }) => foundBy === "beside the file")
      .map((need) => {
        const beside = `which lies beside ${need.neededBy === undefined ? "it" : "that"}, where the loader does not look`;
        return `${needsVia(need)} ${need.name}, ${beside}: set LD_LIBRARY_PATH`;
      }),
    ...unprovided.map((each) => `${needsVia(each)} ${each.version} of ${each.library}, which this machine's does not have`),
  ];
  return { fits: problems.length === 0, problems };
}

/** Name of the library that has a need; absent: the file itself has it. */
type Via = Partial<Pick<IndirectNeed, "neededBy">>;

function needsVia({ neededBy }: Via): string {
  return neededBy === undefined ? "needs" : `needs ${neededBy}, which needs`;
}

function absence({ passedOver }: NeededLibrary): string {
  if (passedOver === undefined) return "which is not on this machine";
  return `and ${passedOver.path} is for ${passedOver.architecture}`;
}

function machineProblems({ format, kind, architecture, byteOrder, libc }: BinaryFile, host: AnalysisHost): string[] {
  const system = format === "archive" || format === "coff" ? undefined : systems[format];
  return [
    ...(system === undefined || system.platforms.includes(host.platform)
      ? []
      : [`it is for ${system.title}, and this is ${host.platform}`]),
    ...(architecture === host.architecture ? [] : [`it is for ${architecture}, and this is ${host.architecture}`]),
    ...(byteOrder === host.byteOrder ? [] : [`it is ${byteOrder}-endian, and this machine is ${host.byteOrder}-endian`]),
    ...(libc === undefined || host.libc === undefined || libc === host.libc
      ? []
      : [`it is for ${libc}, and this program uses ${host.libc}`]),
    ...(kind === "shared object" ? [] : [`it is an ${kind}, which a program cannot load`]),
  ];
}
