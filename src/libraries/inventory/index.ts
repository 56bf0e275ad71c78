/** The native inference libraries of this machine, with what each is. */
export { type BuildFlag, type BuildFlags, buildFlags } from "./build-flags.ts";
export type { InstalledLibrary } from "./installed-library.ts";
export { type LibraryInventory, listLibraries } from "./list-libraries.ts";
