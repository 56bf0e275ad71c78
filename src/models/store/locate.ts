/** Resolves references to locations in the store. */
import { join } from "node:path";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { LocateOptions, ModelLocation, ModelReference, ResolveOptions } from "../reference/model-location.ts";
import { type RemoteReference, canonicalName, isRemote } from "../reference/remote-reference.ts";
import { errorCode, statOrUndefined } from "../../storage/disk.ts";
import { type StoreLayout, storeLayout } from "./layout.ts";
import { type StoreMatch, findModel, findRemoteMatch, knownNames, shortName } from "./lookup.ts";
import { type StoredModel, touchRecord } from "./record.ts";
import type { StoredVariant } from "./model-record.ts";
import { publishTree, treePath } from "./trees.ts";

/**
 * The location of the model that a remote reference means. A missing model or variant is fetched with `options.fetch`; without it, throws MODEL_NOT_FOUND.
 * `text` is the reference as it was written.
 */
export async function locateRemote(
  text: string,
  remote: RemoteReference,
  options: ResolveOptions & LocateOptions,
): Promise<ModelLocation> {
  const layout = storeLayout(options.dataFolder);
  const find = (): Promise<StoreMatch | undefined> => findRemoteMatch(layout, remote);
  const variant = (remote.kind === "hub" ? remote.variant : undefined) ?? options.variant;
  const reference = canonicalName(remote);
  return await locate(layout, { text, reference, find, found: await find(), variant }, options);
}

/**
 * The model of the store that a name refers to, or undefined if there is none. Throws MODEL_NOT_FOUND if several models match, MODEL_INVALID if its record is
 * damaged.
 */
export async function storedModel(text: string, { dataFolder }: ResolveOptions): Promise<ModelReference | undefined> {
  const layout = storeLayout(dataFolder);
  const find = (): Promise<StoreMatch | undefined> => findModel(layout, text);
  const found = await find();
  if (found === undefined) return undefined;
  const { reference } = found.record;
  return {
    text,
    canonical: reference,
    locate: (options = {}) =>
      locate(layout, { text, reference, find, found, variant: found.variant ?? options.variant }, options),
  };
}

/** All names of models in the store, for suggestions. */
export async function storedNames(dataFolder?: string): Promise<string[]> {
  return await knownNames(storeLayout(dataFolder));
}

/** A model that is looked for in the store. */
interface WantedModel {
  /** The reference as it was written. */
  readonly text: string;
  /** The remote reference without its variant. */
  readonly reference: string;
  readonly find: () => Promise<StoreMatch | undefined>;
  /** What `find` returned when the reference was resolved. */
  readonly found: StoreMatch | undefined;
  readonly variant: string | undefined;
}

async function locate(layout: StoreLayout, wanted: WantedModel, { variant, fetch }: LocateOptions): Promise<ModelLocation> {
  const { text, find, found } = wanted;
  const location = await openMatch(layout, text, found, variant);
  if (location !== undefined) return location;
  const missing = referenceToPull(wanted);
  if (fetch === undefined) throw notInStore(layout, text, missing);
  await fetch(missing);
  const fetched = await openMatch(layout, text, await find(), variant);
  if (fetched === undefined) throw notInStore(layout, text, missing);
  return fetched;
}

/** The location of a model that was found, or undefined if the variant or files are missing. Records the use. */
async function openMatch(
  layout: StoreLayout,
  displayName: string,
  found: StoreMatch | undefined,
  wanted: string | undefined,
): Promise<ModelLocation | undefined> {
  if (found === undefined) return undefined;
  const { record, variant } = found;
  if (!hasVariant(record, variant ?? wanted)) return undefined;
  const folder = treePath(layout, record.tree);
  if ((await statOrUndefined(folder)) === undefined && !(await rebuildTree(layout, record))) return undefined;
  await touchRecord(layout, record.name);
  const [only] = record.files;
  const path = isSingleFile(record) && only !== undefined ? join(folder, only.path) : folder;
  return { path, displayName, name: shortName(record), ...omitUndefined({ variant }) };
}

/** Creates the tree again from its blobs. Returns false if blobs are missing. */
async function rebuildTree(layout: StoreLayout, { files }: StoredModel): Promise<boolean> {
  try {
    await publishTree(layout, files);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

function hasVariant(record: StoredModel, wanted: string | undefined): boolean {
  return wanted === undefined || isSingleFile(record) || record.variants.some((variant) => hasName(variant, wanted));
}

/** Whether `wanted` is the name or an alias of the variant. */
export function hasName({ name, aliases }: Pick<StoredVariant, "name" | "aliases">, wanted: string): boolean {
  return name === wanted || aliases.includes(wanted);
}

/** A model from a URL is one file; a model from a hub has the files of a repository. */
function isSingleFile({ repository }: StoredModel): boolean {
  return repository === undefined;
}

/** The reference whose pull fetches what is missing. A URL has no variants. */
function referenceToPull({ reference, variant }: WantedModel): string {
  return variant === undefined || !reference.startsWith("hf:") ? reference : `${reference}:${variant}`;
}

function notInStore({ root }: StoreLayout, text: string, missing: string): InferyardError {
  return new InferyardError("MODEL_NOT_FOUND", `${isRemote(text) ? missing : text} is not in the store`, {
    remedy: `fetch it with: inferyard pull ${missing}`,
    data: { store: root, pull: missing },
  });
}
