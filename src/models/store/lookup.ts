/** Which model of the store a reference or a name means. */
import { InferyardError } from "../../errors.ts";
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

/** A model of the store, and the variant the reference asks for, if it does. */
export interface StoreMatch {
  readonly record: StoredModel;
  readonly variant?: string;
}

/** The name a model gets in the store. */
export function recordName(reference: RemoteReference): string {
  return reference.kind === "hub" ? hubName(reference) : urlName(reference);
}

function hubName({ repository, revision }: HubReference): string {
  return revision === defaultRevision ? repository : `${repository}@${revision}`;
}

/** Digits enough to tell apart what a person could have pulled. */
function urlName({ file, sha256 }: UrlReference): string {
  return `${file}@${sha256.slice(0, 16)}`;
}

/** A commit is found under whatever revision it was pulled. */
export async function findRemote(layout: StoreLayout, reference: RemoteReference): Promise<StoredModel | undefined> {
  return findBy(layout, reference, readRecord);
}

/** The same for a pull, which writes a damaged record anew: undefined for that. */
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

/** The damaged record that a reference or a name means, where there is one. */
export async function findDamaged(layout: StoreLayout, text: string): Promise<DamagedRecord | undefined> {
  const name = isRemote(text) ? recordName(parseRemote(text)) : text;
  const { damaged } = await readAllRecords(layout);
  return damaged.find((record) => record.name === name);
}

/**
 * A model by its reference, its full name ("owner/name", "owner/name@revision") or, where only one has it, its last part; each with or
 * without ":variant". Undefined where there is none; MODEL_NOT_FOUND where several could be meant, MODEL_INVALID where its record is damaged.
 */
export async function findModel(layout: StoreLayout, text: string): Promise<StoreMatch | undefined> {
  if (isRemote(text)) {
    const reference = parseRemote(text);
    const record = await findRemote(layout, reference);
    return record === undefined ? undefined : withVariant(record, reference.kind === "hub" ? reference.variant : undefined);
  }
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

/** The model, or MODEL_NOT_FOUND with the name that was probably meant. */
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

/** Every name a model of the store answers to: for suggestions. */
export async function knownNames(layout: StoreLayout): Promise<string[]> {
  const records = await readIntactRecords(layout);
  return [...new Set(records.flatMap((record) => [record.name, shortName(record)]))];
}

/** The last part of the repository's name, or the file's name without its digest. */
export function shortName({ name, repository }: Pick<StoredModel, "name" | "repository">): string {
  return repository === undefined ? name.replace(/@[^@]*$/, "") : (repository.split("/").at(-1) ?? repository);
}

/** A file from an address has no revision. */
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
