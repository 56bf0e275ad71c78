/** Errors of the file system that say that nothing is there. */

/** Whether an error of the file system says that nothing is at the path. */
export function isMissing(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return code === "ENOENT" || code === "ENOTDIR";
}
