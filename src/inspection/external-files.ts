/** Files beside an ONNX graph that hold its weights: whether they are there, and long enough. */
import { basename, dirname } from "node:path";
import { InferyardError } from "../errors.ts";
import { type Folder, pathInside, statOf } from "../models/model-folder.ts";
import { externalFilesOf } from "../models/manifest/onnx-weights.ts";
import type { OnnxOutline } from "../formats/onnx/onnx-outline.ts";

export interface ExternalFile {
  /** As the graph names it. */
  readonly name: string;
  readonly state: "present" | "missing" | "too short" | "outside the folder";
  /** What the graph reads of it. */
  readonly neededBytes: number;
  /** What is there. */
  readonly bytes?: number;
}

/** Looks for each file the graph names; one outside its folder is not looked at. */
export async function findExternalFiles(outline: OnnxOutline, path: string, shown: string): Promise<ExternalFile[]> {
  const folder: Folder = { path: dirname(path), shown: dirname(shown) };
  const files: ExternalFile[] = [];
  for (const [name, neededBytes] of externalFilesOf(outline)) {
    const place = placeOf(folder, name, basename(shown));
    if (place === undefined) {
      files.push({ name, state: "outside the folder", neededBytes });
      continue;
    }
    const status = await statOf(place, name);
    if (status === undefined || !status.isFile()) files.push({ name, state: "missing", neededBytes });
    else files.push({ name, state: status.size < neededBytes ? "too short" : "present", neededBytes, bytes: status.size });
  }
  return files;
}

/** Undefined where the name leaves the folder: such a file is not looked at. */
function placeOf(folder: Folder, name: string, namedIn: string): string | undefined {
  try {
    return pathInside(folder, name, namedIn);
  } catch (error) {
    if (error instanceof InferyardError) return undefined;
    throw error;
  }
}
