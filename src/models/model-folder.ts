/** A folder a model lives in, and its files: every path in a message is the one the user would type. */
import { InferyardError, messageOf } from "../errors.ts";
import { type FileStatus, fileStatus, openFile, readText } from "../platform/node/files.ts";
import { isAbsolute, join, normalize, sep } from "../platform/node/paths.ts";

export interface Folder {
  /** Absolute. */
  readonly path: string;
  /** As the user wrote it. */
  readonly shown: string;
  /** Not all of its weights were fetched: those that a manifest states and that are not there are left out. */
  readonly partial?: boolean;
}

export type JsonObject = Readonly<Record<string, unknown>>;

/** A file of a folder, as the user would write it. */
export function shownIn(folder: Folder, file: string): string {
  if (file === "" || file === ".") return folder.shown;
  return folder.shown.endsWith("/") || folder.shown.endsWith(sep) ? `${folder.shown}${file}` : `${folder.shown}/${file}`;
}

export function modelInvalid(message: string, remedy: string, cause?: unknown): InferyardError {
  return new InferyardError("MODEL_INVALID", message, { remedy, ...(cause === undefined ? {} : { cause }) });
}

/** The absolute path of a file that another file names; MODEL_INVALID when it would lie outside the folder. */
export function pathInside(folder: Folder, file: string, namedIn: string): string {
  if (escapesFolder(file)) {
    throw modelInvalid(
      `${namedIn} names "${file}", which lies outside the model's folder`,
      "name a file of the folder itself, without ..",
    );
  }
  return join(folder.path, normalize(file));
}

/** Whether a relative name leads out of the folder it is relative to, or is none. */
export function escapesFolder(file: string): boolean {
  return isAbsolute(file) || /^[a-zA-Z]:/.test(file) || /^\.\.([/\\]|$)/.test(normalize(file));
}

/** Size in bytes of a file that must be there and hold something. `remedy` says what to do when it is missing. */
export async function sizeOfFile(path: string, shown: string, remedy: string): Promise<number> {
  const status = await statOf(path, shown);
  if (status === undefined) throw modelInvalid(`${shown} is missing`, remedy);
  if (status.isDirectory()) throw modelInvalid(`${shown} is a folder, and a file was expected`, remedy);
  if (!status.isFile()) throw modelInvalid(`${shown} is no regular file`, "put the file itself in its place");
  if (status.size === 0) throw modelInvalid(`${shown} is empty`, "download it again, or delete it if you do not need it");
  if (status.size < maxPointerBytes && (await isLfsPointer(path, shown))) {
    throw modelInvalid(`${shown} is not the file itself but a Git LFS pointer to it`, "fetch it with: git lfs pull");
  }
  return status.size;
}

/** Whether the path is a file; false where there is nothing. */
export async function isFile(path: string, shown: string): Promise<boolean> {
  return (await statOf(path, shown))?.isFile() ?? false;
}

/** Undefined where there is nothing at the path. */
export async function statOf(path: string, shown: string): Promise<FileStatus | undefined> {
  try {
    return await fileStatus(path);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw unreadable(shown, error);
  }
}

/** Pointer files have three short lines (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md). */
const maxPointerBytes = 1024;
const pointerPrefix = "version https://git-lfs";

async function isLfsPointer(path: string, shown: string): Promise<boolean> {
  const start = new Uint8Array(pointerPrefix.length);
  try {
    const file = await openFile(path);
    try {
      await file.read(start, 0, start.length, 0);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw unreadable(shown, error);
  }
  return String.fromCharCode(...start) === pointerPrefix;
}

/** A JSON object of the folder; undefined where there is no such file. */
export async function readJsonObject(folder: Folder, file: string): Promise<JsonObject | undefined> {
  const value = await readJson(folder, file);
  if (value === undefined || isJsonObject(value)) return value;
  throw modelInvalid(`${shownIn(folder, file)} holds no JSON object`, "download this file of the model again");
}

/** Any JSON of the folder; undefined where there is no such file. */
export async function readJson(folder: Folder, file: string): Promise<unknown> {
  const shown = shownIn(folder, file);
  let text: string;
  try {
    text = await readText(join(folder.path, file));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw unreadable(shown, error);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw modelInvalid(`${shown} is not JSON: ${messageOf(error)}`, "download this file of the model again", error);
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Without the keys whose value is undefined, or null, which is how Go and Rust write what is absent. */
export function omitNullish(json: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null && value !== undefined));
}

/** For a file or folder that is there and refuses. */
export function unreadable(shown: string, error: unknown): InferyardError {
  const folder = (error as NodeJS.ErrnoException).code === "EISDIR";
  const message = folder ? `${shown} is a folder, and a file was expected` : `${shown} cannot be read: ${messageOf(error)}`;
  return modelInvalid(
    message,
    folder ? "put the file in its place" : "check the permissions of the file and of its folder",
    error,
  );
}

function isNotFound(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}
