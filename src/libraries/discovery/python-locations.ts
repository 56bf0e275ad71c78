/** Folders of Python packages: those of an interpreter, which is asked for them, or one folder that the user names. */
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { omitUndefined } from "../../contract/checked.ts";
import type { MachineSources } from "../../devices/index.ts";
import { findProgram } from "../../devices/libraries.ts";
import { InferyardError } from "../../contract/errors.ts";
import { isMissing } from "../../platform/missing-file.ts";
import type { SearchLocation } from "./search-location.ts";

/** nvidia/cublas/lib, torch/lib, jax_plugins/xla_cuda12: three levels below the folder of packages. */
const depth = 3;

const timeoutMs = 10_000;

const program =
  "import json, site, sysconfig; print(json.dumps([*site.getsitepackages(), site.getusersitepackages(), sysconfig.get_path('platlib')]))";

/**
 * Folders of Python packages. `python` is the path of an interpreter or of a folder, or true for `python3` on the PATH. An interpreter is run in isolated mode
 * to determine its folders. Throws INPUT_INVALID if there is no such interpreter or folder, or if the interpreter fails.
 */
export async function pythonLocations(
  sources: MachineSources,
  python: string | true,
  directory: string,
): Promise<readonly SearchLocation[]> {
  const path = python === true ? await findProgram(sources, "python3") : resolve(directory, python);
  if (path === undefined) throw invalid("there is no python3 on the PATH");
  if (python !== true && (await isFolder(path, python))) return [{ path, rule: `Python packages of ${python}`, depth }];
  const answer = await sources.run(path, ["-I", "-c", program], AbortSignal.timeout(timeoutMs));
  if (!answer.ok) throw invalid(`${path} does not tell its folders of packages: ${answer.reason}`);
  return foldersIn(answer.stdout, path).map((folder) => ({ path: folder, rule: `Python packages of ${path}`, depth }));
}

async function isFolder(path: string, shown: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    throw invalid(isMissing(error) ? `there is no file or folder ${shown}` : `${shown} cannot be read`, error);
  }
}

function foldersIn(output: string, path: string): readonly string[] {
  try {
    const folders: unknown = JSON.parse(output);
    if (Array.isArray(folders) && folders.every((folder) => typeof folder === "string")) return [...new Set(folders)];
  } catch (error) {
    throw invalid(`${path} printed no list of folders`, error);
  }
  throw invalid(`${path} printed no list of folders`);
}

function invalid(message: string, cause?: unknown): InferyardError {
  const remedy = "give the path of a Python interpreter, of a virtual environment's interpreter, or of a site-packages folder";
  return new InferyardError("INPUT_INVALID", message, { remedy, ...omitUndefined({ cause }) });
}
