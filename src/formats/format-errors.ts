/** Errors that the readers of model files throw. `displayName` is always the path as the user wrote it. */
import { omitUndefined } from "../contract/checked.ts";
import { InferyardError, getMessage } from "../contract/errors.ts";

/**
 * Creates a MODEL_INVALID error: a model file is damaged or contradicts itself. `remedy` tells the user what to do. The error is
 * returned, not thrown.
 */
export function modelInvalid(message: string, remedy: string, cause?: unknown): InferyardError {
  return new InferyardError("MODEL_INVALID", message, { remedy, ...omitUndefined({ cause }) });
}

/**
 * Creates a MODEL_INVALID error for a file or folder that exists and cannot be read. `displayName` is its path as the user wrote it, `error` the error of the
 * file system. The error is returned, not thrown.
 */
export function unreadable(displayName: string, error: unknown): InferyardError {
  const isFolder = (error as NodeJS.ErrnoException).code === "EISDIR";
  const message = isFolder
    ? `${displayName} is a folder, and a file was expected`
    : `${displayName} cannot be read: ${getMessage(error)}`;
  return modelInvalid(
    message,
    isFolder ? "put the file in its place" : "check the permissions of the file and of its folder",
    error,
  );
}

/** Runs `work` and rethrows its errors, which are of the file system, as `unreadable`. */
export async function withReadErrors<Result>(displayName: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw unreadable(displayName, error);
  }
}

/**
 * Converts any error of a parser to an InferyardError, which is returned. An InferyardError is returned as it is; an error of the
 * file system becomes `unreadable`; any other error means that the bytes are not a complete file of `format` ("ONNX", "GGUF"),
 * and becomes MODEL_INVALID. `shown` is the path as the user wrote it.
 */
export function parseError(displayName: string, format: string, error: unknown): InferyardError {
  if (error instanceof InferyardError) return error;
  if ((error as NodeJS.ErrnoException).code !== undefined) return unreadable(displayName, error);
  return modelInvalid(`${displayName} is not a whole ${format} file: ${getMessage(error)}`, "download it again", error);
}

/** Characters of a name that a message shows. */
const maxQuotedCharacters = 80;

/**
 * A name from a model file, quoted for an error message: control characters are escaped, and at most the first 80 characters are
 * kept.
 */
export function quoteName(name: string): string {
  return JSON.stringify(name.length > maxQuotedCharacters ? `${name.slice(0, maxQuotedCharacters)}…` : name);
}
