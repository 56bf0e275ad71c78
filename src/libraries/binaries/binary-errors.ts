/** Errors of the readers of native binaries. `displayName` is the path as the user wrote it. */
import { InferyardError, getMessage, invalidInput } from "../../contract/errors.ts";
import { isMissing } from "../../platform/missing-file.ts";

/** A table of a binary contradicts itself or the size of the file. The message continues "<file> is not a whole <format> file: ". */
export class DamagedBinary extends Error {
  override readonly name = "DamagedBinary";
}

/** Creates the INPUT_INVALID error for a file that is no binary of a format that is read. The error is returned, not thrown. */
export function notALibrary(displayName: string, found: string): InferyardError {
  return invalidInput(
    `${displayName} is not a native library: ${found}`,
    "name a shared library (.so, .dylib, .dll) or a static one (.a, .lib)",
  );
}

/**
 * Converts an error of a reader: DamagedBinary and errors of the file system become INPUT_INVALID; any other error is returned as
 * it is.
 */
export function readError(displayName: string, format: string, error: unknown): unknown {
  if (error instanceof DamagedBinary) {
    return new InferyardError("INPUT_INVALID", `${displayName} is not a whole ${format} file: ${error.message}`, {
      remedy: "build or download it again",
      cause: error,
    });
  }
  const { code } = error as NodeJS.ErrnoException;
  if (error instanceof InferyardError || !(error instanceof Error) || code === undefined) return error;
  const message = isMissing(error) ? `there is no file ${displayName}` : `${displayName} cannot be read: ${getMessage(error)}`;
  return new InferyardError("INPUT_INVALID", message, {
    remedy: isMissing(error) ? "check the path" : "check that it is a file, and its permissions",
    cause: error,
  });
}
