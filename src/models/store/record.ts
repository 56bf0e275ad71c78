/** What the store knows of a model: one small JSON file each, replaced as a whole. */
import { mkdir, readFile, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { InferyardError } from "../../errors.ts";
import { entryKey } from "../aimod/entry-name.ts";
import { modelInvalid } from "../../formats/format-errors.ts";
import { parseHubName } from "../reference/remote-reference.ts";
import { errorCode, diskError, listNames, withDiskErrors } from "./disk.ts";
import { writeFileAtomically } from "./atomic-write.ts";
import type { StoreLayout } from "./layout.ts";
import { parseRecord } from "./record-validation.ts";

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

export interface StoredModel extends ModelRecord {
  /** ISO 8601; the pull counts as a use. */
  readonly lastUsed: string;
}

const suffix = ".json";

/** Names are encoded, so that "owner/name" is one file name everywhere. */
function recordPath({ models }: StoreLayout, name: string): string {
  return join(models, `${encodeURIComponent(name)}${suffix}`);
}

export async function writeRecord(layout: StoreLayout, record: ModelRecord): Promise<void> {
  await withDiskErrors(layout.models, () => mkdir(layout.models, { recursive: true }));
  await writeFileAtomically(recordPath(layout, record.name), `${JSON.stringify(record, null, 2)}\n`);
}

export async function removeRecord(layout: StoreLayout, name: string): Promise<void> {
  const path = recordPath(layout, name);
  await withDiskErrors(path, () => rm(path, { force: true }));
}

/** A record that cannot be used. Its model is not there; the others are. */
export interface DamagedRecord {
  /** Of the model, as the name of the file has it. */
  readonly name: string;
  /** Absolute path of the record. */
  readonly path: string;
  /** A sentence without a full stop. */
  readonly problem: string;
  /** What mends it. */
  readonly remedy: string;
  /** Digests that stand in what is left of it: content that the model may need. */
  readonly digests: readonly string[];
}

export interface StoredRecords {
  readonly records: StoredModel[];
  readonly damaged: DamagedRecord[];
}

/** A record larger than this is none: one of 100,000 files has 30 MB. */
const maxRecordBytes = 64 * 1024 * 1024;

/** Undefined where there is none of this name; MODEL_INVALID for one that is damaged. */
export async function readRecord(layout: StoreLayout, name: string): Promise<StoredModel | undefined> {
  const read = await readRecordFile(layout, name);
  if (read === undefined || !("problem" in read)) return read;
  throw damagedRecord(read);
}

/** The same for a pull, which writes a damaged record anew: undefined for that. */
export async function readIntactRecord(layout: StoreLayout, name: string): Promise<StoredModel | undefined> {
  const read = await readRecordFile(layout, name);
  return read === undefined || "problem" in read ? undefined : read;
}

/** All of them, by name: those that can be used, and those that are damaged. */
export async function readAllRecords(layout: StoreLayout): Promise<StoredRecords> {
  const names = (await listNames(layout.models)).filter((file) => file.endsWith(suffix)).map(decodeName);
  const read = await Promise.all(names.filter((name) => name !== undefined).map((name) => readRecordFile(layout, name)));
  const found = read.filter((record) => record !== undefined);
  return {
    records: found.filter((record) => "lastUsed" in record),
    damaged: found.filter((record) => "problem" in record),
  };
}

/** Those that can be used, by name. */
export async function readIntactRecords(layout: StoreLayout): Promise<StoredModel[]> {
  return (await readAllRecords(layout)).records;
}

export function damagedRecord({ name, path, problem, remedy }: DamagedRecord): InferyardError {
  return modelInvalid(`the record of ${name} is damaged: ${problem} (${path})`, remedy);
}

async function readRecordFile(layout: StoreLayout, name: string): Promise<StoredModel | DamagedRecord | undefined> {
  const path = recordPath(layout, name);
  let text: string;
  let used: Date;
  try {
    const status = await stat(path);
    used = status.mtime;
    // Before it is opened: a pipe would be waited for.
    if (!status.isFile()) return damaged(name, path, "it is no regular file");
    if (status.size > maxRecordBytes) return damaged(name, path, `it has ${status.size} bytes, and may have ${maxRecordBytes}`);
    text = await readFile(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENAMETOOLONG") return undefined; // such a name was never written
    if (errorCode(error) === "ELOOP") return damaged(name, path, "it is a link to itself");
    throw diskError(path, error);
  }
  const record = parseRecord(text);
  if (typeof record === "string") return damaged(name, path, record, text);
  if (record.name === name) return { ...record, lastUsed: used.toISOString() };
  // On a disk that does not tell capitals apart, another model answers to this name.
  return entryKey(record.name) === entryKey(name) ? undefined : damaged(name, path, "it is that of another model", text);
}

function damaged(name: string, path: string, problem: string, text = ""): DamagedRecord {
  const repository = parseHubName(name);
  const isHubModel = repository !== undefined && repository.variant === undefined && !/@[0-9a-f]{16}$/.test(name);
  const remedy = isHubModel ? `inferyard pull hf:${name}` : `inferyard pull with the address of the file, or delete ${path}`;
  return { name, path, problem, remedy, digests: text.match(/\b[0-9a-f]{64}\b/g) ?? [] };
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
    if (["EROFS", "EACCES", "EPERM", "ENOENT"].includes(errorCode(error) ?? "")) return;
    throw diskError(path, error);
  }
}

export function bytesOf({ files }: Pick<ModelRecord, "files">): number {
  const sizes = new Map(files.map(({ sha256, size }) => [sha256, size]));
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}
