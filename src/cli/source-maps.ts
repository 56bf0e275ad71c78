/** Stack traces of the program that name source files. */

/**
 * Turns source maps on for the modules that are loaded after this call, where stack traces will be printed: with --debug, and in the log of a server. Reading the
 * maps takes a tenth of a short command's time.
 */
export function enableSourceMaps(args: readonly string[]): void {
  if (args.includes("--debug") || args.includes("serve")) process.setSourceMapsEnabled(true);
}
