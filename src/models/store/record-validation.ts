/** Validates records that are read from the disk, since any program may have written to the file. */
import { getMessage } from "../../contract/errors.ts";
import { checkEntryName, entryKey } from "../aimod/entry-name.ts";
import { type JsonObject, isJsonObject } from "../model-folder.ts";
import { isRemote } from "../reference/remote-reference.ts";
import type { ModelRecord } from "./model-record.ts";

/** Parses the record of a stored model. Returns the record, or the problem of the JSON text as a sentence without a full stop. */
export function parseRecord(text: string): ModelRecord | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `it is not JSON: ${getMessage(error)}`;
  }
  if (!isJsonObject(value) || value["recordVersion"] !== 1) return "it is no record of version 1";
  return getProblem(value) ?? (value as JsonObject & ModelRecord);
}

/**
 * The problem of the paths of a model's files, as a sentence without a full stop, or undefined. On every platform each path must name a file inside the folder,
 * and no two paths the same file.
 */
export function pathsProblem(paths: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (const path of paths) {
    const { path: checked, refusal } = checkEntryName(path);
    const shown = JSON.stringify(path.slice(0, 200));
    if (checked !== path) return `the file ${shown} ${refusal ?? "is not written in its shortest form"}`;
    if (seen.has(entryKey(path))) return `the file ${shown} is named twice`;
    seen.add(entryKey(path));
  }
  return undefined;
}

function getProblem(value: JsonObject): string | undefined {
  const { name, reference, source, tree, files, variants, tasks, pulledAt } = value;
  if (typeof name !== "string" || name === "") return "it names no model";
  if (typeof reference !== "string" || !isRemote(reference)) return "its reference is none of a model that can be fetched";
  if (typeof tree !== "string" || !isSha256(tree)) return "it names no tree";
  if (!Array.isArray(files) || files.length === 0 || !files.every(isStoredFile)) return "its list of files is broken";
  if (!Array.isArray(variants) || !variants.every(isStoredVariant)) return "its list of variants is broken";
  if (!isStringArray(tasks) || typeof source !== "string") return "its tasks or its source are broken";
  if (typeof pulledAt !== "string" || Number.isNaN(Date.parse(pulledAt))) return "its time is none";
  for (const field of ["repository", "revision", "commit"])
    if (value[field] !== undefined && typeof value[field] !== "string") return `its ${field} is no text`;
  return pathsProblem(files.map(({ path }) => path));
}

function isStoredFile(value: unknown): value is { readonly path: string } {
  if (!isJsonObject(value)) return false;
  const { path, size, sha256 } = value;
  return (
    typeof path === "string" && Number.isSafeInteger(size) && Number(size) >= 0 && typeof sha256 === "string" && isSha256(sha256)
  );
}

function isStoredVariant(value: unknown): boolean {
  return (
    isJsonObject(value) && typeof value["name"] === "string" && isStringArray(value["aliases"]) && isStringArray(value["files"])
  );
}

function isStringArray(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

/** Whether a text is a SHA-256 in lower-case hexadecimal. */
export function isSha256(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
