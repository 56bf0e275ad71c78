/** The C library of this process. */
import { readFileSync } from "node:fs";
import { InferyardError } from "../../contract/errors.ts";

/** Path of the C library of this process, by /proc/self/maps. Throws BACKEND_UNAVAILABLE on other systems than Linux. `maps` replaces its content. */
export function cLibraryPath(maps: string = mappedFiles()): string {
  const found = /^.* (\/\S*\/(?:libc\.so\.6|libc-[\d.]+\.so|ld-musl-[^/]+\.so\.1|libc\.musl-[^/]+\.so\.1))$/m.exec(maps)?.[1];
  if (found !== undefined) return found;
  throw new InferyardError("BACKEND_UNAVAILABLE", "the C library of this process was not found");
}

function mappedFiles(): string {
  try {
    return readFileSync("/proc/self/maps", "utf8");
  } catch {
    return ""; // another system
  }
}
