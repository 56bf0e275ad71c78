/** Analyzes a native library by its tables: what it is, what it needs, whether it fits this machine. It is never loaded. */
import { realpath } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { type BinaryFile, readBinary } from "../binaries/index.ts";
import { classifyLibrary } from "./classify.ts";
import { type LoadedBackend, computeVerdict } from "./compute-verdict.ts";
import { DependencyReader } from "./dependency-reader.ts";
import { type FoundLibrary, type FoundNeeds, findNeeded } from "./find-needed.ts";
import { contractFor, missingFunctions } from "../contracts/index.ts";
import { checkFit } from "./fit.ts";
import { backendsIn } from "./ggml-backends.ts";
import { readHost } from "./host.ts";
import type { ContractCoverage, LibraryAnalysis, LibraryClass, NeededLibrary } from "./library-analysis.ts";
import { offeredKernels } from "./offered-kernels.ts";
import { groupSymbols } from "./symbol-groups.ts";
import { checkVersions, missingIndirectly, summarizeVersions } from "./versions.ts";

/** Options of `analyzeLibrary`. */
export interface AnalyzeOptions {
  /** The path as the user wrote it. Default: the path. */
  readonly displayName?: string;
  /** Environment whose LD_LIBRARY_PATH is searched. Default: the environment of this process. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/**
 * Analyzes a shared library, an executable, an object file or a static archive in ELF, Mach-O, PE or COFF. Runs no code of the file and reads only its tables.
 * Needed libraries, and their own needs, are searched in the places of Linux's loader. Throws INPUT_INVALID for a file that is missing, damaged or not a native
 * library, and LIMIT_EXCEEDED for tables larger than those of any known library. Analyses of several files may share `dependencies`, so that each needed
 * library is read once.
 */
export async function analyzeLibrary(
  path: string,
  options: AnalyzeOptions = {},
  dependencies: DependencyReader = new DependencyReader(),
): Promise<LibraryAnalysis> {
  const { displayName = path, environment = process.env } = options;
  const binary = await readBinary(path, { displayName });
  const host = await readHost();
  const found: FoundNeeds =
    host.platform === "linux" && binary.format === "elf" && binary.architecture === host.architecture
      ? await findNeeded({ path: resolve(path), binary, environment, dependencies })
      : { direct: notChecked(binary), indirect: [] };
  const needs = found.direct.map(({ need }) => need);
  const indirectNeeds = found.indirect.map(({ need }) => need);
  const versions = checkVersions(binary, found.direct);
  const missingVersions = missingIndirectly(found);
  const classes = classifyLibrary(binary, basename(path));
  const { symbols, requiredVersions: _required, needed: _needed, ...file } = binary;
  return {
    path: displayName,
    file,
    classes,
    verdict: computeVerdict(binary, {
      indirectNeeds,
      backends: await loadedBackends(path, binary, classes, [...needs, ...indirectNeeds]),
    }),
    symbolCounts: {
      exported: symbols.filter(({ isExported }) => isExported).length,
      imported: symbols.filter(({ isImported }) => isImported).length,
    },
    symbols: groupSymbols(symbols),
    kernels: offeredKernels(symbols),
    needs,
    indirectNeeds,
    versions,
    missingVersions,
    versionSummaries: summarizeVersions(versions, found.direct),
    fit: checkFit(binary, host, { needs, indirectNeeds, versions, missingVersions }),
    contract: coverage(binary, classes),
  };
}

function coverage({ symbols }: BinaryFile, classes: readonly LibraryClass[]): ContractCoverage | undefined {
  const contract = contractFor(classes.map(({ name }) => name));
  if (contract === undefined) return undefined;
  const exported = new Set(symbols.filter(({ isExported }) => isExported).map(({ name }) => name));
  const { length: required } = contract.required;
  return { name: contract.name, required, exported: required - missingFunctions(contract, (name) => exported.has(name)).length };
}

/** File names of the library that contains ggml's backend registry. */
const registryName = /^(?:lib)?ggml\./;

/** ggml backends in the folder of a library that contains, or depends on, ggml's backend registry. */
async function loadedBackends(
  path: string,
  { format }: BinaryFile,
  classes: readonly LibraryClass[],
  needs: readonly NeededLibrary[],
): Promise<readonly LoadedBackend[]> {
  const hasRegistry =
    classes.some(({ name, confidence }) => (name === "ggml" || name === "llama") && confidence !== "possible") ||
    needs.some(({ name }) => registryName.test(basename(name)));
  if (!hasRegistry) return [];
  const folder = dirname(await realpath(path));
  const paths = await backendsIn(folder, format);
  const read = async (file: string): Promise<LoadedBackend[]> => {
    const binary = await readBinary(file).catch(() => undefined); // what is no library is not loaded
    return binary === undefined ? [] : [{ name: basename(file), binary }];
  };
  return (await Promise.all(paths.filter((file) => file !== resolve(path)).map(read))).flat();
}

/** The needs of a file for another system, or on a system whose loader is not followed. */
function notChecked({ needed }: BinaryFile): FoundLibrary[] {
  return needed.map((name) => ({
    need: { name, path: undefined, foundBy: undefined, status: "not checked" },
    binary: undefined,
  }));
}
