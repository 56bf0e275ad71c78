/** Finds models of the store by reference or name. */
import { InferyardError } from "../../contract/errors.ts";
import { nearestName } from "../validation/nearest-name.ts";
import {
  type HubReference,
  type RemoteReference,
  type UrlReference,
  defaultRevision,
  isRemote,
  parseHubName,
  parseRemote,
} from "../reference/remote-reference.ts";
import type { StoreLayout } from "./layout.ts";
import {
  type DamagedRecord,
  type StoredModel,
  damagedRecord,
  readRecord,
  readIntactRecords,
  readIntactRecord,
  readAllRecords,
} from "./record.ts";

/** A model of the store that a reference means, and the variant that the reference names, if it names one. */
export interface StoreMatch {
  readonly record: StoredModel;
  readonly variant?: string;
}

/** The name under which a model is stored: "owner/name", "owner/name@revision", or the name of the file with 16 digits of its digest. */
export function recordName(reference: RemoteReference): string {
  return reference.kind === "hub" ? hubName(reference) : urlName(reference);
}

function hubName({ repository, revision }: HubReference): string {
  return revision === defaultRevision ? repository : `${repository}@${revision}`;
}

/** 16 hexadecimal digits suffice to tell files of the same name apart. */
function urlName({ file, sha256 }: UrlReference): string {
  return `${file}@${sha256.slice(0, 16)}`;
}

/**
 * The model that a remote reference names, or undefined. A commit is found whatever revision it was pulled as. Throws MODEL_INVALID if its record is damaged.
 */
export async function findRemote(layout: StoreLayout, reference: RemoteReference): Promise<StoredModel | undefined> {
  return findBy(layout, reference, readRecord);
}

/** Finds a model as `findRemote` does, but returns undefined for a damaged record, which a pull replaces. */
export async function findIntact(layout: StoreLayout, reference: RemoteReference): Promise<StoredModel | undefined> {
  return findBy(layout, reference, readIntactRecord);
}

async function findBy(
  layout: StoreLayout,
  reference: RemoteReference,
  read: typeof readRecord,
): Promise<StoredModel | undefined> {
  const own = await read(layout, recordName(reference));
  if (own !== undefined || reference.kind === "url") return own;
  const { repository, revision } = reference;
  if (!/^[0-9a-f]{40}$/.test(revision)) return undefined;
  return (await readIntactRecords(layout)).find((record) => record.repository === repository && record.commit === revision);
}

/** The damaged record of the model that a reference or name refers to, or undefined if there is none. */
export async function findDamaged(layout: StoreLayout, text: string): Promise<DamagedRecord | undefined> {
  const name = isRemote(text) ? recordName(parseRemote(text)) : text;
  const { damaged } = await readAllRecords(layout);
  return damaged.find((record) => record.name === name);
}

/**
 * Finds the model of the store that a remote reference, a full name ("owner/name", "owner/name@revision") or the last part of a name refers to; each may end in
 * ":variant". Returns undefined if there is none. Throws MODEL_NOT_FOUND if several models match, and MODEL_INVALID if the record is damaged.
 */
export async function findModel(layout: StoreLayout, text: string): Promise<StoreMatch | undefined> {
  if (isRemote(text)) return await findRemoteMatch(layout, parseRemote(text));
  const { records, damaged } = await readAllRecords(layout);
  const named = records.find(({ name }) => name === text);
  if (named !== undefined) return { record: named };
  const broken = damaged.find(({ name }) => name === text);
  if (broken !== undefined) throw damagedRecord(broken);
  const parsed = parseHubName(text);
  if (parsed === undefined) return undefined;
  const matching = parsed.repository.includes("/")
    ? records.filter((record) => record.repository === parsed.repository && hasRevision(record, parsed.revision))
    : records.filter((record) => shortName(record) === parsed.repository && hasRevision(record, parsed.revision));
  const [record] = matching;
  if (matching.length > 1) throw ambiguous(text, matching);
  return record === undefined ? undefined : withVariant(record, parsed.variant);
}

/** As `findRemote`, with the variant that the reference names. */
export async function findRemoteMatch(layout: StoreLayout, reference: RemoteReference): Promise<StoreMatch | undefined> {
  const record = await findRemote(layout, reference);
  return record === undefined ? undefined : withVariant(record, reference.kind === "hub" ? reference.variant : undefined);
}

/** As `findModel`, but throws MODEL_NOT_FOUND if there is no such model, with a suggestion. */
export async function requireModel(layout: StoreLayout, text: string): Promise<StoreMatch> {
  const found = await findModel(layout, text);
  if (found !== undefined) return found;
  const guess = nearestName(text, await knownNames(layout));
  const fetch = isRemote(text) ? `fetch it with: inferyard pull ${text}` : "`inferyard list` shows what is there";
  throw new InferyardError("MODEL_NOT_FOUND", `${text} is not in the store`, {
    remedy: guess === undefined ? fetch : `did you mean "${guess}"?`,
    data: { store: layout.root },
  });
}

/** The full and short names of all models of the store, for suggestions. */
export async function knownNames(layout: StoreLayout): Promise<string[]> {
  const records = await readIntactRecords(layout);
  return [...new Set(records.flatMap((record) => [record.name, shortName(record)]))];
}

/** The short name of a stored model: the last part of the name of its repository, or the name of its file without the digest. */
export function shortName({ name, repository }: Pick<StoredModel, "name" | "repository">): string {
  return repository === undefined ? name.replace(/@[^@]*$/, "") : (repository.split("/").at(-1) ?? repository);
}

/** A file from a URL has no revision. */
function hasRevision({ revision = defaultRevision, commit }: StoredModel, wanted: string): boolean {
  return revision === wanted || commit === wanted;
}

function withVariant(record: StoredModel, variant: string | undefined): StoreMatch {
  return variant === undefined ? { record } : { record, variant };
}

function ambiguous(text: string, records: readonly StoredModel[]): InferyardError {
  const names = records.map(({ name }) => name);
  return new InferyardError("MODEL_NOT_FOUND", `"${text}" could be ${names.join(" or ")}`, {
    remedy: `write one of them in full, for example ${names[0]}`,
    data: { names },
  });
}
