/** Records: one JSON file per model with its files, variants and origin. A record is replaced atomically. */
import { mkdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { InferyardError } from "../../contract/errors.ts";
import { entryKey } from "../aimod/entry-name.ts";
import { modelInvalid } from "../../formats/format-errors.ts";
import { parseHubName } from "../reference/remote-reference.ts";
import { errorCode, diskError, listNames, touch, withDiskErrors } from "../../storage/disk.ts";
import { writeFileAtomically } from "../../storage/atomic-write.ts";
import type { StoreLayout } from "./layout.ts";
import type { ModelRecord } from "./model-record.ts";
import { parseRecord } from "./record-validation.ts";

/** The record of a model in the store, with the time of its last use. */
export interface StoredModel extends ModelRecord {
  /** Time of the last use, ISO 8601. A pull counts as a use. */
  readonly lastUsed: string;
}

const suffix = ".json";

/** Names are percent-encoded, so that "owner/name" is one file name on every platform. */
function recordPath({ models }: StoreLayout, name: string): string {
  return join(models, `${encodeURIComponent(name)}${suffix}`);
}

/** Writes or replaces the record of a model. Throws DISK_FULL or OUTPUT_FAILED. */
export async function writeRecord(layout: StoreLayout, record: ModelRecord): Promise<void> {
  await withDiskErrors(layout.models, () => mkdir(layout.models, { recursive: true }));
  await writeFileAtomically(recordPath(layout, record.name), `${JSON.stringify(record, null, 2)}\n`);
}

/** Removes the record of a model if there is one. Its files stay until `prune`. */
export async function removeRecord(layout: StoreLayout, name: string): Promise<void> {
  const path = recordPath(layout, name);
  await withDiskErrors(path, () => rm(path, { force: true }));
}

/** A record that cannot be read. Its model is unavailable until it is pulled again. */
export interface DamagedRecord {
  /** Name of the model, from the name of the file. */
  readonly name: string;
  /** Absolute path of the record. */
  readonly path: string;
  /** The problem, as a sentence without a full stop. */
  readonly problem: string;
  /** The command that repairs it. */
  readonly remedy: string;
  /** Digests found in the text of the record: content that the model may need, which `prune` keeps. */
  readonly digests: readonly string[];
}

/** The records of all models in a store, each list sorted by name. */
export interface StoredRecords {
  readonly records: StoredModel[];
  readonly damaged: DamagedRecord[];
}

/** Largest record in bytes: one with 100,000 files has 30 MB. */
const maxRecordBytes = 64 * 1024 * 1024;

/** The record of the model with this name, or undefined if there is none. Throws MODEL_INVALID if it is damaged. */
export async function readRecord(layout: StoreLayout, name: string): Promise<StoredModel | undefined> {
  const read = await readRecordFile(layout, name);
  if (read === undefined || !("problem" in read)) return read;
  throw damagedRecord(read);
}

/** Reads a record as `readRecord` does, but returns undefined for a damaged one, which a pull replaces. */
export async function readIntactRecord(layout: StoreLayout, name: string): Promise<StoredModel | undefined> {
  const read = await readRecordFile(layout, name);
  return read === undefined || "problem" in read ? undefined : read;
}

/** Reads the records of all models in the store. A damaged record costs its own model alone. */
export async function readAllRecords(layout: StoreLayout): Promise<StoredRecords> {
  const names = (await listNames(layout.models)).filter((file) => file.endsWith(suffix)).map(decodeName);
  const read = await Promise.all(names.filter((name) => name !== undefined).map((name) => readRecordFile(layout, name)));
  const found = read.filter((record) => record !== undefined);
  return {
    records: found.filter((record) => "lastUsed" in record),
    damaged: found.filter((record) => "problem" in record),
  };
}

/** Reads the records of all models in the store, sorted by name, without damaged ones. */
export async function readIntactRecords(layout: StoreLayout): Promise<StoredModel[]> {
  return (await readAllRecords(layout)).records;
}

/** Creates the MODEL_INVALID error for a damaged record. The error is returned, not thrown. */
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
    // Checked before it is opened: opening a pipe would block.
    if (!status.isFile()) return damaged(name, path, "it is no regular file");
    if (status.size > maxRecordBytes) return damaged(name, path, `it has ${status.size} bytes, and may have ${maxRecordBytes}`);
    text = await readFile(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT" || errorCode(error) === "ENAMETOOLONG") return undefined; // no record has a name of this length
    if (errorCode(error) === "ELOOP") return damaged(name, path, "it is a link to itself");
    throw diskError(path, error);
  }
  const record = parseRecord(text);
  if (typeof record === "string") return damaged(name, path, record, text);
  if (record.name === name) return { ...record, lastUsed: used.toISOString() };
  // On a file system that ignores case, the path of another model is the same file.
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
    return undefined; // not the name of a record
  }
}

/** Sets the time of the model's last use to now, in the modification time of its record, as `touch` does. */
export async function touchRecord(layout: StoreLayout, name: string): Promise<void> {
  await touch(recordPath(layout, name));
}

/** Size in bytes of a model's files; files of equal content count once. */
export function getRecordBytes({ files }: Pick<ModelRecord, "files">): number {
  const sizes = new Map(files.map(({ sha256, size }) => [sha256, size]));
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}
