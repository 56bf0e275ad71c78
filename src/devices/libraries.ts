/** Finds libraries where the operating system's loader would, and programs on the PATH, by looking at files only. */
import type { MachineSources } from "./sources.ts";

/**
 * The path under which the loader finds a library, or undefined. A pattern matches whole file names, for libraries whose
 * file name ends in a version.
 */
export async function findLibrary(sources: MachineSources, name: string | RegExp): Promise<string | undefined> {
  if (sources.platform !== "linux") return findInDirectories(sources, loaderDirectories(sources), name);
  const chosen = await findInDirectories(sources, directoriesIn(sources, "LD_LIBRARY_PATH"), name);
  const cache = await sources.readFile("/etc/ld.so.cache");
  const cached = chosen ?? (cache === undefined ? undefined : findInLoaderCache(cache, name));
  // Listing the system's own directories costs milliseconds, and where there is a cache they are in it.
  if (cached !== undefined || (cache !== undefined && typeof name !== "string")) return cached;
  return findInDirectories(sources, loaderDirectories(sources), name);
}

/** The path of a program on the PATH or in the further directories, or undefined. The name comes without ".exe". */
export async function findProgram(
  sources: MachineSources,
  name: string,
  furtherDirectories: readonly string[] = [],
): Promise<string | undefined> {
  const fileName = sources.platform === "win32" ? `${name}.exe` : name;
  return findInDirectories(sources, [...directoriesIn(sources, "PATH"), ...furtherDirectories], fileName);
}

/** The directories that an environment variable lists. */
export function directoriesIn(sources: MachineSources, variable: string): readonly string[] {
  const separator = sources.platform === "win32" ? ";" : ":";
  return (sources.environment[variable] ?? "").split(separator).filter((directory) => directory !== "");
}

/** The folder of Windows' own programs and libraries. */
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
 * /etc/ld.so.cache is binary, but the paths in it are plain text between zero bytes (glibc, sysdeps/generic/dl-cache.h). It is
 * what dlopen consults, so it sees folders added under /etc/ld.so.conf.d, such as those of WSL and of driver containers.
 */
function findInLoaderCache(cache: string, name: string | RegExp): string | undefined {
  for (const [path] of cache.matchAll(/\/[^\0]+/g)) {
    const file = path.slice(path.lastIndexOf("/") + 1);
    const matches = typeof name === "string" ? file === name : name.test(file);
    // Libraries of 32 bits stand in the same cache.
    if (matches && !/\/(?:lib32|i386-linux-gnu)\//.test(path)) return path;
  }
  return undefined;
}

function loaderDirectories(sources: MachineSources): readonly string[] {
  if (sources.platform === "win32") return [windowsSystemDirectory(sources), ...directoriesIn(sources, "PATH")];
  if (sources.platform === "darwin")
    return [...directoriesIn(sources, "DYLD_LIBRARY_PATH"), "/usr/local/lib", "/opt/homebrew/lib"];
  const triplet = sources.architecture === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  return ["/lib64", "/usr/lib64", `/lib/${triplet}`, `/usr/lib/${triplet}`, "/lib", "/usr/lib"];
}
