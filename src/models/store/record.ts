/** What the store knows of a model: one small JSON file each, replaced as a whole. */
import { mkdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../errors.ts";
import { type JsonObject, isJsonObject, modelInvalid } from "../model-folder.ts";
import { codeOf, diskError, namesIn, onDisk } from "./disk.ts";
import { writeWhole } from "./write-whole.ts";
import type { StoreLayout } from "./layout.ts";

/** A file of a model, as its tree has it. */
export interface StoredFile {
  /** Relative, with slashes. */
  readonly path: string;
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** The hub's digest of a file that it keeps in git itself: SHA-1 of a git blob. */
  readonly gitSha1?: string;
}

export interface StoredVariant {
  readonly name: string;
  readonly aliases: readonly string[];
  /** Paths of its weights. */
  readonly files: readonly string[];
}

export interface ModelRecord {
  readonly recordVersion: 1;
  /** How it is called in the store: "owner/name", "owner/name@revision", or the name of a single file. */
  readonly name: string;
  /** What fetches it again: `hf:owner/name[@revision]`, or an address with its digest. */
  readonly reference: string;
  /** Where the last pull took it from: the hub's or the file's address, or the folder of Hugging Face's cache. */
  readonly source: string;
  readonly repository?: string;
  readonly revision?: string;
  /** What the revision stood for when it was pulled. */
  readonly commit?: string;
  readonly variants: readonly StoredVariant[];
  readonly files: readonly StoredFile[];
  /** Hugging Face task names, as the manifest had them when it was pulled. */
  readonly tasks: readonly string[];
  /** Digest of the list of files: name of the folder in `trees`. */
  readonly tree: string;
  /** ISO 8601. */
  readonly pulledAt: string;
}

export interface UsedRecord extends ModelRecord {
  /** ISO 8601; the pull counts as a use. */
  readonly lastUsed: string;
}

const suffix = ".json";

/** Names are encoded, so that "owner/name" is one file name everywhere. */
function recordPath({ models }: StoreLayout, name: string): string {
  return join(models, `${encodeURIComponent(name)}${suffix}`);
}

export async function writeRecord(layout: StoreLayout, record: ModelRecord): Promise<void> {
  await onDisk(layout.models, () => mkdir(layout.models, { recursive: true }));
  await writeWhole(recordPath(layout, record.name), `${JSON.stringify(record, null, 2)}\n`);
}

export async function removeRecord(layout: StoreLayout, name: string): Promise<void> {
  const path = recordPath(layout, name);
  await onDisk(path, () => rm(path, { force: true }));
}

/** Undefined where there is none of this name; MODEL_INVALID for one that cannot be read. */
export async function readRecord(layout: StoreLayout, name: string): Promise<UsedRecord | undefined> {
  const path = recordPath(layout, name);
  let text: string;
  let used: Date;
  try {
    text = await readFile(path, "utf8");
    used = (await stat(path)).mtime;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw diskError(path, error);
  }
  const record = parse(text, path);
  // On a disk that does not tell capitals apart, another model answers to this name.
  return record.name === name ? { ...record, lastUsed: used.toISOString() } : undefined;
}

/** All of them, by name. */
export async function readRecords(layout: StoreLayout): Promise<UsedRecord[]> {
  const names = (await namesIn(layout.models)).filter((file) => file.endsWith(suffix)).map(decodeName);
  const records = await Promise.all(names.filter((name) => name !== undefined).map((name) => readRecord(layout, name)));
  return records.filter((record) => record !== undefined);
}

function decodeName(file: string): string | undefined {
  try {
    return decodeURIComponent(file.slice(0, -suffix.length));
  } catch {
    return undefined; // not a name of ours
  }
}

/** Notes that the model was used now. In a store this user may not write to, that stays unknown. */
export async function touchRecord(layout: StoreLayout, name: string): Promise<void> {
  const path = recordPath(layout, name);
  const now = new Date();
  try {
    await utimes(path, now, now);
  } catch (error) {
    if (["EROFS", "EACCES", "EPERM", "ENOENT"].includes(codeOf(error) ?? "")) return;
    throw diskError(path, error);
  }
}

function parse(text: string, path: string): ModelRecord {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw damaged(path, messageOf(error));
  }
  if (!isJsonObject(value) || value["recordVersion"] !== 1) throw damaged(path, "it is no record of this version");
  const { name, reference, tree, files, variants } = value;
  if (typeof name !== "string" || typeof reference !== "string") throw damaged(path, "it names no model");
  const faulty = ["repository", "revision", "commit"].find((key) => value[key] !== undefined && typeof value[key] !== "string");
  if (faulty !== undefined) throw damaged(path, `its ${faulty} is not a text`);
  if (typeof tree !== "string" || !isSha256(tree)) throw damaged(path, "it names no tree");
  if (!Array.isArray(files) || !files.every(isStoredFile)) throw damaged(path, "its list of files is broken");
  if (!Array.isArray(variants) || !variants.every(isStoredVariant)) throw damaged(path, "its list of variants is broken");
  return value as JsonObject & ModelRecord;
}

function isStoredFile(value: unknown): boolean {
  return (
    isJsonObject(value) && typeof value["path"] === "string" && typeof value["sha256"] === "string" && isSha256(value["sha256"])
  );
}

function isStoredVariant(value: unknown): boolean {
  return (
    isJsonObject(value) && typeof value["name"] === "string" && Array.isArray(value["aliases"]) && Array.isArray(value["files"])
  );
}

export function isSha256(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

function damaged(path: string, problem: string): ReturnType<typeof modelInvalid> {
  return modelInvalid(`${path} is damaged: ${problem}`, "delete this file and pull the model again");
}

export function bytesOf({ files }: Pick<ModelRecord, "files">): number {
  const sizes = new Map(files.map(({ sha256, size }) => [sha256, size]));
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}
