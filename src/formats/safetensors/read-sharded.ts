/**
 * Reads the headers of safetensors weights that are split over several files. `model.safetensors.index.json` names the file of each tensor; the files are in
 * the same folder (https://huggingface.co/docs/safetensors, and `save_pretrained` of transformers with `max_shard_size`).
 */
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError, getMessage } from "../../contract/errors.ts";
import { dirname, join } from "../../platform/node/paths.ts";
import { readRange, readSafetensorsHeader, type SafetensorsEntry, type SafetensorsHeader, withFile } from "./read-safetensors.ts";

const indexSuffix = ".safetensors.index.json";
/** Largest index that is read, in bytes. That of a model of 61 layers with 256 experts each has 9 MB. */
const maxIndexBytes = 64_000_000;
/** A name of a file in the same folder. */
const shardName = /^[^/\\]+\.safetensors$/;

/** Whether the file names the parts of weights, by its name. */
export function isSafetensorsIndex(path: string): boolean {
  return path.endsWith(indexSuffix);
}

/**
 * Reads the header of weights in one file, or with the path of an index in several: the tensors of all files, each with the path of its own. Throws as
 * `readSafetensorsHeader` does, and MODEL_INVALID if the index is damaged or does not agree with the files.
 */
export async function readWeightsHeader(path: string, signal?: AbortSignal): Promise<SafetensorsHeader> {
  if (!isSafetensorsIndex(path)) return await readSafetensorsHeader(path, signal);
  const index = await readSafetensorsIndex(path);
  const headers = new Map<string, SafetensorsHeader>();
  for (const file of getShards(index)) headers.set(file, await readShard(path, file, signal));
  const entries = [...index].map(([name, file]): [string, SafetensorsEntry] => {
    const entry = headers.get(file)?.tensors.get(name);
    if (entry === undefined) throw invalid(path, `it says that ${file} holds ${JSON.stringify(name)}, which that file does not`);
    return [name, entry];
  });
  const metadata = new Map([...headers.values()].flatMap((header) => [...header.metadata]));
  const bytes = entries.reduce((sum, [, { start, end }]) => sum + end - start, 0);
  return { path, tensors: new Map(entries), metadata, bytes };
}

/** Paths of all files of the weights: the file itself, or the index and the files that it names. Throws as `readWeightsHeader` does. */
export async function pathsOfWeights(path: string): Promise<readonly string[]> {
  if (!isSafetensorsIndex(path)) return [path];
  return [path, ...getShards(await readSafetensorsIndex(path)).map((file) => join(dirname(path), file))];
}

async function readShard(index: string, file: string, signal: AbortSignal | undefined): Promise<SafetensorsHeader> {
  const path = join(dirname(index), file);
  try {
    return await readSafetensorsHeader(path, signal);
  } catch (error) {
    if (!(error instanceof InferyardError && error.code === "MODEL_NOT_FOUND")) throw error;
    throw new InferyardError("MODEL_INVALID", `${index} names ${path}, and there is no such file`, {
      remedy: "download that file too, into the same folder",
      cause: error,
    });
  }
}

function getShards(index: ReadonlyMap<string, string>): readonly string[] {
  return [...new Set(index.values())];
}

/** File names by tensor. */
async function readSafetensorsIndex(path: string): Promise<ReadonlyMap<string, string>> {
  const bytes = await withFile(path, async (file) => {
    const { size } = await file.stat();
    if (size > maxIndexBytes) throw invalid(path, `it has ${size} bytes, and the limit is ${maxIndexBytes}`);
    return readRange(file, path, 0, size);
  });
  let content: unknown;
  try {
    content = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    const what = cause instanceof TypeError ? "it is not UTF-8" : `it is not JSON (${getMessage(cause)})`;
    throw invalid(path, what, cause);
  }
  const { weight_map: map } = (content ?? {}) as { readonly weight_map?: unknown };
  if (typeof map !== "object" || map === null || Array.isArray(map)) throw invalid(path, "it has no weight_map");
  const entries = Object.entries(map).map(([name, file]: [string, unknown]): [string, string] => {
    if (typeof file === "string" && shardName.test(file)) return [name, file];
    throw invalid(
      path,
      `the file of ${JSON.stringify(name)} is ${JSON.stringify(file)}, and must be a .safetensors file beside it`,
    );
  });
  if (entries.length === 0) throw invalid(path, "its weight_map names no tensors");
  return new Map(entries);
}

function invalid(path: string, what: string, cause?: unknown): InferyardError {
  return new InferyardError("MODEL_INVALID", `${path} is no valid index of safetensors files: ${what}`, {
    remedy: "get the files again",
    ...omitUndefined({ cause }),
  });
}
