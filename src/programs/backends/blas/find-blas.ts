/** Where libraries with matrix products are looked for. Files are found by their names, none is read or loaded. */
import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join, resolve } from "node:path";
import { nodeSources } from "../../../devices/index.ts";
import { directoriesIn, loaderDirectories } from "../../../devices/libraries.ts";
import { pythonEnvironments } from "../../../libraries/discovery/site-packages.ts";
import { type BlasKind, blasDescriptions } from "./blas-kinds.ts";

/** The variable that names libraries. */
export const blasVariable = "INFERYARD_BLAS_LIBRARY";

/** A file that may be a library with matrix products. */
export interface BlasFile {
  /** Absolute path. */
  readonly path: string;
  /** Why it was looked at: a setting, a variable or a rule. */
  readonly foundBy: string;
  /** The kind that its name states; undefined for a file that the user names, which may have any name. */
  readonly kind: BlasKind | undefined;
}

/** Folders of Python packages that hold a BLAS. The wheels of MKL and oneDNN put theirs into the environment's own lib. */
const packageFolders = ["numpy.libs", "scipy.libs", "scipy_openblas32/lib", "scipy_openblas64/lib"];

/** Folders of Debian's builds below a folder of the loader, which itself has a link to one of them. */
const buildFolders = ["openblas-pthread", "openblas-openmp", "blis-pthread", "blis-openmp"];

/**
 * Files in the order in which they are tried: Python environments, the folders of LD_LIBRARY_PATH, the loader's cache, and the loader's folders; within each
 * MKL, OpenBLAS, BLIS, oneDNN. `named`, else the variable INFERYARD_BLAS_LIBRARY, lists the only files to try, as PATH does. Throws nothing.
 */
export async function findBlas(
  named: string | undefined,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Promise<readonly BlasFile[]> {
  const stated = named ?? environment[blasVariable];
  if (stated !== undefined && stated !== "") {
    const foundBy = named === undefined ? blasVariable : "the option library";
    const parts = stated.split(delimiter).filter((part) => part !== "");
    return parts.map((part) => ({ path: resolve(part), foundBy, kind: undefined }));
  }
  const sources = { ...nodeSources(), environment };
  const environments = await pythonEnvironments({ environment, platform: sources.platform, home: homedir() });
  const inFolders = async (folders: readonly string[], rule: string): Promise<readonly BlasFile[]> => {
    const found = folders.map(async (folder) => filesOf(await sources.list(folder), folder, rule));
    return (await Promise.all(found)).flat();
  };
  const ofPython = environments.map(async ({ prefix, rule, folders }) => {
    const packages = folders.flatMap((folder) => packageFolders.map((each) => join(folder, each)));
    return await inFolders([...packages, join(prefix, "lib")], `Python packages of ${prefix} (${rule})`);
  });
  const ofVariable = sources.platform === "linux" ? directoriesIn(sources, "LD_LIBRARY_PATH").map((path) => resolve(path)) : [];
  const cached = ((await sources.cachedLibraries()) ?? []).map((path) =>
    filesOf([basename(path)], dirname(path), "cache of the loader"),
  );
  const usual = loaderDirectories(sources).flatMap((folder) => ["", ...buildFolders].map((each) => join(folder, each)));
  const found = [
    ...(await Promise.all(ofPython)).flat(),
    ...(await inFolders(ofVariable, "LD_LIBRARY_PATH")),
    ...cached.flat(),
    ...(await inFolders(usual, "default folder of the loader")),
  ];
  const files = new Map<string, BlasFile>();
  for (const file of found) {
    const identity = await realpath(file.path).catch(() => file.path);
    if (!files.has(identity)) files.set(identity, file);
  }
  return [...files.values()];
}

const sharedLibrary = /\.(?:so(?:\.\d[\w.-]*)?|dylib|dll)$/;

/** The files of one folder with the name of a known library, in the order of the kinds. */
function filesOf(names: readonly string[], folder: string, foundBy: string): readonly BlasFile[] {
  return blasDescriptions.flatMap(({ kind, fileName }) =>
    names
      .filter((name) => fileName.test(name.toLowerCase()) && sharedLibrary.test(name.toLowerCase()))
      .sort()
      .map((name) => ({ path: join(folder, name), foundBy, kind })),
  );
}
