/** Files of a model's folder. Messages name every file by the path that the user would type. */
import { getMessage } from "../contract/errors.ts";
import { isObject as isJsonObject } from "../contract/shapes/shape.ts";
import { modelInvalid, unreadable, withReadErrors } from "../formats/format-errors.ts";
import { type FileStatus, fileStatus, openFile, readText } from "../platform/node/files.ts";
import { isAbsolute, join, normalize, sep } from "../platform/node/paths.ts";

export { isJsonObject };

/** The location of a model's folder or file, with its path for messages. */
export interface Folder {
  /** Absolute path. */
  readonly path: string;
  /** The path as the user wrote it. */
  readonly displayName: string;
  /** Whether only some of the weights were fetched. Variants of a manifest whose files are missing are then left out. */
  readonly partial?: boolean;
}

/** A parsed JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * The path of a file of the folder, as messages show it: relative to the path that the user wrote. `file` is relative to the
 * folder.
 */
export function displayNameIn(folder: Folder, file: string): string {
  if (file === "" || file === ".") return folder.displayName;
  return folder.displayName.endsWith("/") || folder.displayName.endsWith(sep)
    ? `${folder.displayName}${file}`
    : `${folder.displayName}/${file}`;
}

/** The absolute path of `file`, which is relative to the folder. Throws MODEL_INVALID if it is outside the folder; `namedIn` is the file that names it. */
export function pathInside(folder: Folder, file: string, namedIn: string): string {
  if (escapesFolder(file)) {
    throw modelInvalid(
      `${namedIn} names "${file}", which lies outside the model's folder`,
      "name a file of the folder itself, without ..",
    );
  }
  return join(folder.path, normalize(file));
}

/** Whether a path is absolute or leads out of the folder that it is relative to. */
export function escapesFolder(file: string): boolean {
  return isAbsolute(file) || /^[a-zA-Z]:/.test(file) || /^\.\.([/\\]|$)/.test(normalize(file));
}

/** Size of a file in bytes. Throws MODEL_INVALID if it is missing (`remedy` says what to do then), empty, not a regular file, or a Git LFS pointer. */
export async function sizeOfFile(path: string, displayName: string, remedy: string): Promise<number> {
  const status = await readStatus(path, displayName);
  if (status === undefined) throw modelInvalid(`${displayName} is missing`, remedy);
  if (status.isDirectory()) throw modelInvalid(`${displayName} is a folder, and a file was expected`, remedy);
  if (!status.isFile()) throw modelInvalid(`${displayName} is no regular file`, "put the file itself in its place");
  if (status.size === 0) throw modelInvalid(`${displayName} is empty`, "download it again, or delete it if you do not need it");
  if (status.size < maxPointerBytes && (await isLfsPointer(path, displayName))) {
    throw modelInvalid(`${displayName} is not the file itself but a Git LFS pointer to it`, "fetch it with: git lfs pull");
  }
  return status.size;
}

/** Whether there is a regular file at the path. Throws MODEL_INVALID for other errors of the file system; `displayName` is the path in the message. */
export async function isFile(path: string, displayName: string): Promise<boolean> {
  return (await readStatus(path, displayName))?.isFile() ?? false;
}

/**
 * Status of the file or folder at the path, or undefined if there is none. Throws MODEL_INVALID for other errors of the file system; `displayName` is the path
 * in the message.
 */
export async function readStatus(path: string, displayName: string): Promise<FileStatus | undefined> {
  try {
    return await fileStatus(path);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw unreadable(displayName, error);
  }
}

/** Git LFS pointer files have three short lines (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md). */
const maxPointerBytes = 1024;
const pointerPrefix = "version https://git-lfs";

async function isLfsPointer(path: string, displayName: string): Promise<boolean> {
  return String.fromCharCode(...(await readStart(path, pointerPrefix.length, displayName))) === pointerPrefix;
}

/** The first bytes of a file; behind its end they are 0. Throws MODEL_INVALID if it cannot be read; `displayName` is the path in the message. */
export async function readStart(path: string, bytes: number, displayName: string): Promise<Uint8Array> {
  return withReadErrors(displayName, async () => {
    const file = await openFile(path);
    try {
      const start = new Uint8Array(bytes);
      await file.read(start, 0, bytes, 0);
      return start;
    } finally {
      await file.close();
    }
  });
}

/** The JSON object in a file of the folder, or undefined if there is no such file. Throws MODEL_INVALID if it holds anything else. */
export async function readJsonObject(folder: Folder, file: string): Promise<JsonObject | undefined> {
  const value = await readJson(folder, file);
  if (value === undefined || isJsonObject(value)) return value;
  throw modelInvalid(`${displayNameIn(folder, file)} holds no JSON object`, "download this file of the model again");
}

/** The JSON value in a file of the folder, or undefined if there is no such file. Throws MODEL_INVALID if it is not JSON or cannot be read. */
export async function readJson(folder: Folder, file: string): Promise<unknown> {
  const displayName = displayNameIn(folder, file);
  let text: string;
  try {
    text = await readText(join(folder.path, file));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw unreadable(displayName, error);
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw modelInvalid(`${displayName} is not JSON: ${getMessage(error)}`, "download this file of the model again", error);
  }
}

/** The object without the keys whose value is undefined or null. Programs in Go and Rust write null for absent fields. */
export function omitNullish(json: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(json).filter(([, value]) => value !== null && value !== undefined));
}

function isNotFound(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}
