/** Finds libraries as the operating system's loader does, and programs on the PATH, by looking at files only. */
import type { MachineSources } from "./sources.ts";

/**
 * Path of a shared library as the dynamic loader finds it; undefined if it does not. `name` as a pattern must match a whole file
 * name, for libraries whose name ends in a version.
 */
export async function findSystemLibrary(sources: MachineSources, name: string | RegExp): Promise<string | undefined> {
  if (sources.platform !== "linux") return findInDirectories(sources, loaderDirectories(sources), name);
  const chosen = await findInDirectories(sources, directoriesIn(sources, "LD_LIBRARY_PATH"), name);
  const cache = await sources.cachedLibraries();
  const cached = chosen ?? (cache === undefined ? undefined : findInLoaderCache(cache, name));
  // Listing the system's directories costs milliseconds, and a loader cache already covers them.
  if (cached !== undefined || (cache !== undefined && typeof name !== "string")) return cached;
  return findInDirectories(sources, loaderDirectories(sources), name);
}

/** Path of a program on the PATH or in `furtherDirectories`; undefined if there is none. `name` is without ".exe". */
export async function findProgram(
  sources: MachineSources,
  name: string,
  furtherDirectories: readonly string[] = [],
): Promise<string | undefined> {
  const fileName = sources.platform === "win32" ? `${name}.exe` : name;
  return findInDirectories(sources, [...directoriesIn(sources, "PATH"), ...furtherDirectories], fileName);
}

/** The directories that an environment variable such as PATH lists. */
export function directoriesIn(sources: MachineSources, variable: string): readonly string[] {
  const separator = sources.platform === "win32" ? ";" : ":";
  return (sources.environment[variable] ?? "").split(separator).filter((directory) => directory !== "");
}

/** The directory of Windows' own programs and libraries (System32). */
export function windowsSystemDirectory(sources: MachineSources): string {
  return `${sources.environment["SystemRoot"] ?? "C:\\Windows"}\\System32`;
}

async function findInDirectories(
  sources: MachineSources,
  directories: readonly string[],
  name: string | RegExp,
): Promise<string | undefined> {
  const separator = sources.platform === "win32" ? "\\" : "/";
  const paths = await Promise.all(
    directories.map(async (directory) => {
      if (typeof name !== "string") {
        const match = (await sources.list(directory)).find((file) => name.test(file));
        return match === undefined ? undefined : `${directory}${separator}${match}`;
      }
      const path = `${directory}${separator}${name}`;
      return (await sources.exists(path)) ? path : undefined;
    }),
  );
  return paths.find((path) => path !== undefined);
}

/**
 * Searches the loader's cache, which covers folders of /etc/ld.so.conf.d, such as folders of WSL and of driver containers. The cache also lists 32-bit
 * libraries.
 */
function findInLoaderCache(paths: readonly string[], name: string | RegExp): string | undefined {
  return paths.find((path) => {
    const file = path.slice(path.lastIndexOf("/") + 1);
    return (typeof name === "string" ? file === name : name.test(file)) && !/\/(?:lib32|i386-linux-gnu)\//.test(path);
  });
}

/** Folders that the dynamic loader searches by default; on macOS and Windows including the folders of an environment variable. */
export function loaderDirectories(sources: MachineSources): readonly string[] {
  if (sources.platform === "win32") return [windowsSystemDirectory(sources), ...directoriesIn(sources, "PATH")];
  if (sources.platform === "darwin")
    return [...directoriesIn(sources, "DYLD_LIBRARY_PATH"), "/usr/local/lib", "/opt/homebrew/lib"];
  const triplet = sources.architecture === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  return ["/lib64", "/usr/lib64", `/lib/${triplet}`, `/usr/lib/${triplet}`, "/lib", "/usr/lib"];
}
