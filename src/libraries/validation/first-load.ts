/**
 * The first load of native libraries: in a child process. A file that is cut off, damaged or made to do harm ends the process that loads it (SIGBUS,
 * SIGSEGV, an endless constructor), which must not be the user's.
 */
import { join, resolve } from "node:path";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, getMessage, invalidInput } from "../../contract/errors.ts";
import { computeSha256 } from "../../platform/node/files.ts";
import { dataFolder } from "../../storage/data-folder.ts";
import { PassedTests } from "../../storage/passed-tests.ts";
import { analyzeLibrary } from "../analysis/index.ts";
import { hostArchitecture, readBinary } from "../binaries/index.ts";
import { checkLibrarySize } from "../binaries/library-size.ts";
import type { LoadedMessage } from "./child-messages.ts";
import { runWatchedProcess } from "./watched-process.ts";

/** Options of `proveLoads`. */
export interface FirstLoadOptions {
  /**
   * Absolute paths of files that the libraries load themselves, or that they need. It is no failure if the loader refuses one, but it is one if the process
   * ends.
   */
  readonly companions?: readonly string[];
  /** Known SHA-256 digests of files, by path. Other files are read. Default: all files are read. */
  readonly digests?: ReadonlyMap<string, string>;
  /** Milliseconds for all libraries together. Default: 20,000. */
  readonly timeout?: number;
  /** Folder of the records of libraries that loaded, an absolute path. Default: a folder in this user's data folder. */
  readonly folder?: string;
  readonly signal?: AbortSignal | undefined;
  /**
   * A program that loads the libraries and tries them, in place of `first-load-child.ts`, whose arguments and messages it has; and what is proved by it, a name under which
   * libraries that passed are remembered. Default: they are loaded alone.
   */
  readonly child?: { readonly program: URL; readonly tests: string };
}

const defaultTimeoutMs = 20_000;
const maxMemoryBytes = 4 * 2 ** 30;

/**
 * Proves that this machine's loader takes the libraries and that their constructors return. They are loaded in a child process, one after the other,
 * unless files with their digests loaded before with this version of Node.js. Paths are absolute. Throws LIBRARY_INCOMPATIBLE for a file that is missing, no
 * regular file, empty, cut off, no native library, for another architecture or larger than 4 GiB, and for one that ends the child or is not done in
 * time; LOAD_FAILED with the loader's words for one it refuses; and BACKEND_UNAVAILABLE if koffi is not installed.
 */
export async function proveLoads(paths: readonly string[], options: FirstLoadOptions = {}): Promise<void> {
  const { companions = [], timeout = defaultTimeoutMs, folder = join(dataFolder(), "loaded-libraries"), signal } = options;
  const loading = { program: new URL("./first-load-child.ts", import.meta.url), tests: "native libraries that loaded" };
  const { program, tests } = options.child ?? loading;
  if (program.pathname.endsWith(".ts")) return; // sources that were not built: Node.js does not run them
  const digests = new Map<string, string>();
  for (const path of [...paths, ...companions]) {
    // In order: one file at a time is read.
    // oxlint-disable-next-line no-await-in-loop
    digests.set(path, await computeDigest(path, { isRequired: paths.includes(path), known: options.digests?.get(path) }));
  }
  const record = new PassedTests(folder, {
    tests,
    node: process.version,
    system: `${process.platform}/${process.arch}`,
  });
  const isUnknown = (path: string): boolean => !record.names.includes(digests.get(path) ?? "");
  const required = paths.filter(isUnknown);
  const unknown = [...required, ...companions.filter(isUnknown)];
  if (unknown.length === 0) return;
  let failed: InferyardError | undefined;
  let loaded = 0;
  const { failure, lastLines } = await runWatchedProcess<LoadedMessage>({
    program,
    arguments: [String(required.length), ...unknown],
    timeout,
    maxMemory: maxMemoryBytes,
    environment: process.env,
    signal,
    onMessage: (message) => {
      if (message.kind === "loaded") loaded += 1;
      if (message.kind === "failed") failed = InferyardError.fromJSON(message.error);
    },
  });
  record.add(unknown.slice(0, loaded).map((path) => digests.get(path) ?? ""));
  if (failed !== undefined) throw await explainRefusal(failed, unknown[loaded] ?? "");
  if (failure !== undefined) throw fatal(unknown[loaded] ?? "", failure, lastLines);
}

/** The digest of a library. Its size and its tables are read first, so that what is no library is not read to its end. */
async function computeDigest(
  path: string,
  { isRequired, known }: { readonly isRequired: boolean; readonly known: string | undefined },
): Promise<string> {
  try {
    await checkLibrarySize(path);
    if (isRequired) await checkTables(path);
    return `sha256:${known ?? (await computeSha256(path))}`;
  } catch (error) {
    throw new InferyardError("LIBRARY_INCOMPATIBLE", getMessage(error), {
      cause: error,
      remedy: "name a shared library for this machine; nothing of this file was loaded",
      data: { path, step: "analysis", found: getMessage(error) },
    });
  }
}

/**
 * Adds details from the library's tables to the error of a loader that refused the library. The loader itself only names one file as not found, even
 * if it skipped a file of that name for another architecture. Other errors are returned unchanged.
 */
export async function explainRefusal(refusal: unknown, path: string): Promise<unknown> {
  if (!(refusal instanceof InferyardError) || refusal.code !== "LOAD_FAILED") return refusal;
  const problems = await getProblems(path);
  if (problems.length === 0) return refusal;
  const { message, remedy, data } = refusal;
  return new InferyardError("LOAD_FAILED", `${message}; it ${problems.join("; it ")}`, {
    cause: refusal,
    ...omitUndefined({ remedy, data }),
  });
}

async function getProblems(path: string): Promise<readonly string[]> {
  try {
    return (await analyzeLibrary(path)).fit.problems;
  } catch {
    return []; // its tables cannot be read, which the loader has said
  }
}

function fatal(path: string, failure: string, lastLines: readonly string[]): InferyardError {
  return new InferyardError("LIBRARY_INCOMPATIBLE", `${path} cannot be loaded: in a child process, ${failure}`, {
    remedy: "use another build of the library; nothing of it was loaded into this process",
    data: { path, step: "loading", expected: "a library that the process survives", found: failure, lastLines: [...lastLines] },
  });
}

/**
 * Refuses by its tables what no loader can take. Throws INPUT_INVALID as `proveLoads` does, and LIBRARY_INCOMPATIBLE for another architecture.
 */
async function checkTables(path: string): Promise<void> {
  const { kind, architecture } = await readBinary(resolve(path), { displayName: path, symbols: false });
  if (kind !== "shared object") throw invalidInput(`${path} is no shared library, but ${describeKind[kind]}`);
  if (architecture === hostArchitecture()) return;
  throw new InferyardError(
    "LIBRARY_INCOMPATIBLE",
    `${path} is for ${architecture}, and this program runs on ${hostArchitecture()}`,
    {
      remedy: "use a build of the library for this machine",
      data: { path, step: "analysis", expected: hostArchitecture(), found: architecture },
    },
  );
}

const describeKind = { executable: "a program", object: "an object file", archive: "a static library" } as const;
