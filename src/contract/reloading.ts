/**
 * An optional extension of the backend contract: backends whose native library the user chooses, and that can be made anew with another library while models
 * are loaded. Not published: `Runtime.reloadLibrary` looks for `ReloadableBackend.withLibrary`, and the types may change with any version.
 */
import type { Backend, Library, LibraryFileDigest } from "./backend.ts";

/** A native library in a file. */
export interface LibraryFile extends Library {
  /** Absolute path. */
  readonly path: string;
  /** Hexadecimal SHA-256 of the file. */
  readonly sha256: string;
  /** The library file, then the files that it loads. */
  readonly files: readonly LibraryFileDigest[];
}

/** A backend whose library can be replaced. */
export interface ReloadableBackend extends Backend {
  /** The same backend with the library in this file, which is not looked at before it is probed. */
  withLibrary(path: string): ReloadableBackend;
  /** The library that models are loaded with. Undefined if none is configured or found. Throws BACKEND_UNAVAILABLE if it cannot be read. */
  libraryFile(): Promise<LibraryFile | undefined>;
}

/** Whether a backend has the extension. */
export function isReloadable(backend: Backend): backend is ReloadableBackend {
  return "withLibrary" in backend && typeof backend.withLibrary === "function";
}
