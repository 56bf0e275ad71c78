/** Whether a library fits this machine and this program, by its tables. */
import type { BinaryFile } from "../binaries/index.ts";
import type { AnalysisHost } from "./host.ts";
import type { Fit, LibraryAnalysis, NeededLibrary } from "./library-analysis.ts";

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
  const missing = needs.filter(({ status }) => status === "missing").map((need) => `needs ${need.name}, ${absence(need)}`);
  const missingIndirectly = indirectNeeds
    .filter(({ status }) => status === "missing")
    .map((need) => `needs ${need.neededBy}, which needs ${need.name}, ${absence(need)}`);
  const unreachable = needs
    .filter(({ foundBy }) => foundBy === "beside the file")
    .map(({ name }) => `needs ${name}, which lies beside it, where the loader does not look: set LD_LIBRARY_PATH`);
  const unreachableIndirectly = indirectNeeds
    .filter(({ foundBy }) => foundBy === "beside the file")
    .map(
      ({ name, neededBy }) =>
        `needs ${neededBy}, which needs ${name}, which lies beside that, where the loader does not look: set LD_LIBRARY_PATH`,
    );
  const unprovided = versions
    .filter(({ isProvided, isWeak }) => isProvided === false && isWeak !== true)
    .map(({ library, version }) => `needs ${version} of ${library}, which this machine's does not have`);
  const unprovidedIndirectly = missingVersions.map(
    ({ library, version, neededBy }) =>
      `needs ${neededBy}, which needs ${version} of ${library}, which this machine's does not have`,
  );
  const problems = [
    ...machineProblems(binary, host),
    ...missing,
    ...missingIndirectly,
    ...unreachable,
    ...unreachableIndirectly,
    ...unprovided,
    ...unprovidedIndirectly,
  ];
  return { fits: problems.length === 0, problems };
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
