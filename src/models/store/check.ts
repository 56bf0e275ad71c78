/** Checks that the files of the store are unchanged since they were pulled. */
import { getOrInsert } from "../../contract/checked.ts";
import { join } from "node:path";
import { throwIfAborted } from "../../contract/errors.ts";
import { contentHash, hashInto } from "./blobs.ts";
import { statOrUndefined } from "../../storage/disk.ts";
import type { StoreLayout } from "./layout.ts";
import { findDamaged, requireModel } from "./lookup.ts";
import { type DamagedRecord, type StoredRecords, type StoredModel, getRecordBytes, readAllRecords } from "./record.ts";
import { treePath } from "./trees.ts";

/** A damaged file or record that `checkModels` found in the store. */
export interface Damage {
  /** The model's name in the store. */
  readonly name: string;
  /** Path of the file, relative to the model's folder; for a damaged record, its absolute path. */
  readonly file: string;
  /** The problem, as a sentence without a full stop. */
  readonly problem: string;
  /** The command that repairs it. */
  readonly remedy: string;
}

/** The result of `checkModels`: the checked models, and the damaged ones. */
export interface CheckReport {
  /** Names of the models that were checked. */
  readonly models: readonly string[];
  /** Number of files that were checked. */
  readonly files: number;
  /** Size of the checked files in bytes. */
  readonly bytes: number;
  readonly damaged: readonly Damage[];
}

/** Options of `checkModels`: the signal that aborts it. */
export interface CheckOptions {
  readonly signal?: AbortSignal;
}

/**
 * Reads every file of the model that `text` names, or of all models of the store if it is undefined, and compares it with its
 * digest. Damage is reported, not thrown. Throws MODEL_NOT_FOUND if there is no such model, and ABORTED.
 */
export async function checkModels(layout: StoreLayout, text: string | undefined, { signal }: CheckOptions): Promise<CheckReport> {
  const { records, damaged: broken } = await getRecords(layout, text);
  // Models share blobs: each file on the disk is read once.
  const digests = new Map<string, Promise<string>>();
  const damaged: Damage[] = broken.map(damageOfRecord);
  for (const record of records) damaged.push(...(await getDamages(layout, record, digests, signal)));
  return {
    models: [...records, ...broken].map(({ name }) => name).sort(),
    files: records.reduce((count, { files }) => count + files.length, 0),
    bytes: records.reduce((total, record) => total + getRecordBytes(record), 0),
    damaged,
  };
}

async function getRecords(layout: StoreLayout, text: string | undefined): Promise<StoredRecords> {
  if (text === undefined) return readAllRecords(layout);
  const broken = await findDamaged(layout, text);
  if (broken !== undefined) return { records: [], damaged: [broken] };
  return { records: [(await requireModel(layout, text)).record], damaged: [] };
}

function damageOfRecord({ name, path, problem, remedy }: DamagedRecord): Damage {
  return { name, file: path, problem: `the record is damaged: ${problem}`, remedy };
}

async function getDamages(
  layout: StoreLayout,
  { name, reference, tree, files, variants, repository }: StoredModel,
  digests: Map<string, Promise<string>>,
  signal: AbortSignal | undefined,
): Promise<Damage[]> {
  const damaged: Damage[] = [];
  for (const { path, size, sha256 } of files) {
    throwIfAborted(signal);
    const file = join(treePath(layout, tree), path);
    const status = await statOrUndefined(file);
    const owner = variants.find(({ files: own }) => own.includes(path));
    const remedy = `inferyard pull ${reference}${owner === undefined || repository === undefined ? "" : `:${owner.name}`}`;
    const report = (problem: string): number => damaged.push({ name, file: path, problem, remedy });
    if (status === undefined) {
      report("it is missing");
      continue;
    }
    if (status.size !== size) {
      report(`it has ${status.size} bytes, and had ${size} when it was pulled`);
      continue;
    }
    const key = `${status.dev}:${status.ino}`;
    const digest = getOrInsert(digests, key, () => computeDigest(file, signal));
    if ((await digest) !== sha256) report("its content has changed");
  }
  return damaged;
}

async function computeDigest(path: string, signal: AbortSignal | undefined): Promise<string> {
  const hash = contentHash();
  await hashInto(hash, path, signal);
  return hash.digest().sha256;
}
