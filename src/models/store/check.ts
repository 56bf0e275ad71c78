/** Whether the store's files are what they were when they were pulled. */
import { join } from "node:path";
import { throwIfAborted } from "../../errors.ts";
import { contentHash, hashInto } from "./blobs.ts";
import { statOrUndefined } from "./disk.ts";
import type { StoreLayout } from "./layout.ts";
import { findDamaged, requireModel } from "./lookup.ts";
import { type DamagedRecord, type StoredRecords, type StoredModel, bytesOf, readAllRecords } from "./record.ts";
import { treePath } from "./trees.ts";

export interface Damage {
  /** The model's name in the store. */
  readonly name: string;
  /** Path of the file in the model; of a damaged record, its absolute path. */
  readonly file: string;
  /** A sentence without a full stop. */
  readonly problem: string;
  /** What mends it. */
  readonly remedy: string;
}

export interface CheckReport {
  /** Names of the models that were looked at. */
  readonly models: readonly string[];
  readonly files: number;
  readonly bytes: number;
  readonly damaged: readonly Damage[];
}

export interface CheckOptions {
  readonly signal?: AbortSignal;
}

/** Reads every file of a model, or of all, and holds it against its digest. */
export async function checkModels(layout: StoreLayout, text: string | undefined, { signal }: CheckOptions): Promise<CheckReport> {
  const { records, damaged: broken } = await recordsOf(layout, text);
  // Models share content: each file on the disk is read once.
  const digests = new Map<string, Promise<string>>();
  const damaged: Damage[] = broken.map(damageOfRecord);
  for (const record of records) damaged.push(...(await damagesOf(layout, record, digests, signal)));
  return {
    models: [...records, ...broken].map(({ name }) => name).sort(),
    files: records.reduce((count, { files }) => count + files.length, 0),
    bytes: records.reduce((total, record) => total + bytesOf(record), 0),
    damaged,
  };
}

async function recordsOf(layout: StoreLayout, text: string | undefined): Promise<StoredRecords> {
  if (text === undefined) return readAllRecords(layout);
  const broken = await findDamaged(layout, text);
  if (broken !== undefined) return { records: [], damaged: [broken] };
  return { records: [(await requireModel(layout, text)).record], damaged: [] };
}

function damageOfRecord({ name, path, problem, remedy }: DamagedRecord): Damage {
  return { name, file: path, problem: `the record is damaged: ${problem}`, remedy };
}

async function damagesOf(
  layout: StoreLayout,
  { name, reference, tree, files, variants, repository }: StoredModel,
  digests: Map<string, Promise<string>>,
  signal: AbortSignal | undefined,
): Promise<Damage[]> {
  const damaged: Damage[] = [];
  for (const { path, size, sha256 } of files) {
    throwIfAborted(signal);
    const place = join(treePath(layout, tree), path);
    const status = await statOrUndefined(place);
    const owner = variants.find(({ files: own }) => own.includes(path));
    const remedy = `inferyard pull ${reference}${owner === undefined || repository === undefined ? "" : `:${owner.name}`}`;
    const tell = (problem: string): number => damaged.push({ name, file: path, problem, remedy });
    if (status === undefined) {
      tell("it is missing");
      continue;
    }
    if (status.size !== size) {
      tell(`it has ${status.size} bytes, and had ${size} when it was pulled`);
      continue;
    }
    const key = `${status.dev}:${status.ino}`;
    const digest = digests.get(key) ?? digestOf(place, signal);
    digests.set(key, digest);
    if ((await digest) !== sha256) tell("its content has changed");
  }
  return damaged;
}

async function digestOf(path: string, signal: AbortSignal | undefined): Promise<string> {
  const hash = contentHash();
  await hashInto(hash, path, signal);
  return hash.digest().sha256;
}
