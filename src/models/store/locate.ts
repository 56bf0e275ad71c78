/** Resolves references to locations in the store. */
import { join } from "node:path";
import { InferyardError } from "../../errors.ts";
import type { ModelLocation, ResolveOptions } from "../reference/model-location.ts";
import { canonicalName, isRemote, parseRemote } from "../reference/remote-reference.ts";
import { errorCode, statOrUndefined } from "./disk.ts";
import { type StoreLayout, storeLayout } from "./layout.ts";
import { type StoreMatch, findModel, knownNames, shortName } from "./lookup.ts";
import { type StoredVariant, type StoredModel, touchRecord } from "./record.ts";
import { publishTree, treePath } from "./trees.ts";

/**
 * Finds the model that a remote reference or a name in the store means. A missing model or variant is fetched with
 * `options.fetch`; without it, throws MODEL_NOT_FOUND. Returns undefined for a name that is not in the store.
 */
export async function locateStored(text: string, options: ResolveOptions = {}): Promise<ModelLocation | undefined> {
  const layout = storeLayout(options.dataFolder);
  const found = await findModel(layout, text);
  if (found === undefined && !isRemote(text)) return undefined;
  const location = await openMatch(layout, text, found, options.variant);
  if (location !== undefined) return location;
  const missing = referenceToPull(text, found, options.variant);
  if (options.fetch === undefined) throw notInStore(layout, text, missing);
  await options.fetch(missing);
  const fetched = await openMatch(layout, text, await findModel(layout, text), options.variant);
  if (fetched === undefined) throw notInStore(layout, text, missing);
  return fetched;
}

/** All names of models in the store, for suggestions. */
export async function storedNames(dataFolder?: string): Promise<string[]> {
  return await knownNames(storeLayout(dataFolder));
}

/** The remote reference of the model with this name, or undefined if it is not in the store. */
export async function storedReference(name: string, dataFolder?: string): Promise<string | undefined> {
  const found = await findModel(storeLayout(dataFolder), name);
  return found?.record.reference;
}

/** The location of a model that was found, or undefined if the variant or files are missing. Records the use. */
async function openMatch(
  layout: StoreLayout,
  shown: string,
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
  return { path, shown, name: shortName(record), ...(variant === undefined ? {} : { variant }) };
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

/** The reference whose pull fetches what is missing. */
function referenceToPull(text: string, found: StoreMatch | undefined, wanted: string | undefined): string {
  const parsed = isRemote(text) ? parseRemote(text) : undefined;
  const reference = parsed === undefined ? (found?.record.reference ?? text) : canonicalName(parsed);
  const variant = found?.variant ?? (parsed?.kind === "hub" ? parsed.variant : undefined) ?? wanted;
  return variant === undefined || !reference.startsWith("hf:") ? reference : `${reference}:${variant}`;
}

function notInStore({ root }: StoreLayout, text: string, missing: string): InferyardError {
  return new InferyardError("MODEL_NOT_FOUND", `${isRemote(text) ? missing : text} is not in the store`, {
    remedy: `fetch it with: inferyard pull ${missing}`,
    data: { store: root, pull: missing },
  });
}
