/** Returns memory that the C library has freed to the operating system. */
import { ForeignFunctions, cLibraryPath } from "../../libraries/ffi/index.ts";

/**
 * Creates a function that returns freed heap memory to the operating system, some milliseconds after a call. No effect without koffi, and where the C library
 * is not glibc.
 */
export function createTrimmer(): () => void {
  let trimmer: Promise<() => void> | undefined;
  return () => void (trimmer ??= loadTrimmer()).then((trim) => trim());
}

/**
 * malloc_trim(3) of glibc, where koffi is installed; elsewhere a function without effect. Freed memory of glibc's heap otherwise goes back only from the
 * end of the heap, where one small allocation holds it.
 */
async function loadTrimmer(): Promise<() => void> {
  try {
    const library = (await ForeignFunctions.load()).open(cLibraryPath());
    if (!library.has("malloc_trim")) return () => {};
    const trim = library.bind("malloc_trim", { result: "int32", parameters: ["size"] });
    return () => void trim(0);
  } catch {
    return () => {}; // koffi is not installed, or this is no Linux
  }
}
