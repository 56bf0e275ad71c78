/** Checks the files with external data of an ONNX graph. */
import { basename, dirname } from "node:path";
import { InferyardError } from "../contract/errors.ts";
import { type Folder, pathInside, readStatus } from "../models/model-folder.ts";
import { getExternalFiles } from "../formats/onnx/external-files.ts";
import type { OnnxOutline } from "../formats/onnx/onnx-outline.ts";

/** A file with external data of an inspected ONNX graph. */
export interface ExternalFile {
  /** Path as the graph names it. */
  readonly name: string;
  readonly state: "present" | "missing" | "too short" | "outside the folder";
  /** Smallest size that the file must have. */
  readonly neededBytes: number;
  /** Actual size. Absent if there is no such file in the folder. */
  readonly bytes?: number;
}

/**
 * Finds the files with external data that the ONNX graph at `path` names. Files outside the folder of the graph are not accessed.
 * Throws MODEL_INVALID if a file cannot be accessed.
 */
export async function findExternalFiles(outline: OnnxOutline, path: string, displayName: string): Promise<ExternalFile[]> {
  const folder: Folder = { path: dirname(path), displayName: dirname(displayName) };
  const files: ExternalFile[] = [];
  for (const [name, neededBytes] of getExternalFiles(outline)) {
    const file = pathInFolder(folder, name, basename(displayName));
    if (file === undefined) {
      files.push({ name, state: "outside the folder", neededBytes });
      continue;
    }
    const status = await readStatus(file, name);
    if (status === undefined || !status.isFile()) files.push({ name, state: "missing", neededBytes });
    else files.push({ name, state: status.size < neededBytes ? "too short" : "present", neededBytes, bytes: status.size });
  }
  return files;
}

/** The absolute path of a file, or undefined if it is outside the folder. */
function pathInFolder(folder: Folder, name: string, namedIn: string): string | undefined {
  try {
    return pathInside(folder, name, namedIn);
  } catch (error) {
    if (error instanceof InferyardError) return undefined;
    throw error;
  }
}
