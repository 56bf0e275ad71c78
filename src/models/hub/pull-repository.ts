/** Pulls a model from the hub, or offline from Hugging Face's cache: first the files that describe it, then the weights that these call for. */
import { join, posix } from "node:path";
import { InferyardError } from "../../contract/errors.ts";
import { type Folder, escapesFolder, readJsonObject } from "../model-folder.ts";
import { readModules, vectorModuleWeights } from "../huggingface/modules.ts";
import { readOnnxWeights } from "../manifest/onnx-weights.ts";
import { type HubReference, canonicalName } from "../reference/remote-reference.ts";
import { blobPath, hasBlob, sha256ForGitDigest } from "../store/blobs.ts";
import { errorCode, freeBytes, withDiskErrors, diskFullRemedy, statOrUndefined } from "../../storage/disk.ts";
import { findIntact, recordName } from "../store/lookup.ts";
import { hasName } from "../store/locate.ts";
import { getRecordBytes } from "../store/record.ts";
import type { StoredFile, StoredVariant } from "../store/model-record.ts";
import { withTemporaryTree } from "../store/trees.ts";
import { missingModuleWeights } from "../huggingface/vector-modules.ts";
import { cachedBlob, readCachedListing } from "./cache.ts";
import { type ModelShape, selectWeights, descriptionFiles } from "./select-files.ts";
import { type HubFile, type Listing, readListing, refuseAmbiguousNames } from "./listing.ts";
import { downloadName, obtainFile, offlineError } from "./obtain-file.ts";
import { publish } from "./publish.ts";
import type { PullReport, PullSession } from "./pull-session.ts";
import type { Network } from "./request.ts";
import { mapConcurrently } from "./map-concurrently.ts";

/** Number of files that are fetched concurrently. */
const maxConcurrentFiles = 4;

/** Pulls the model that a hub reference names, and publishes it in the store. Throws the errors of `ModelStore.pull`. */
export async function pullRepository(reference: HubReference, pulling: PullSession): Promise<PullReport> {
  const { network, cacheFolder } = pulling;
  const what = canonicalName(reference);
  if (network === undefined) {
    const kept = await publishStored(reference, pulling);
    if (kept !== undefined) return kept;
  }
  const listing =
    network === undefined ? await readCachedListing(cacheFolder, reference) : await listed(reference, network, pulling);
  if (listing === undefined) throw offlineError(what);
  try {
    return await pullListed(reference, what, listing, pulling);
  } catch (error) {
    // A concurrent `prune` that did not see this pull has removed a file: the pull is repeated once.
    if (errorCode(error) !== "ENOENT") throw error;
    return await withDiskErrors(pulling.layout.blobs, () => pullListed(reference, what, listing, pulling));
  }
}

async function listed(reference: HubReference, network: Network, { meter, signal }: PullSession): Promise<Listing> {
  const onRetry = ({ reason, waitMs }: { readonly reason: string; readonly waitMs: number }): void =>
    meter.report("retrying", { note: `the listing: ${reason}; again in ${(waitMs / 1000).toFixed(1)} s` });
  return await readListing(network, reference, { signal, onRetry });
}

/** For an offline pull: publishes the model again as the store has it. Undefined if the store lacks the model, the variant or a file. */
async function publishStored(reference: HubReference, pulling: PullSession): Promise<PullReport | undefined> {
  const { layout, variant, meter } = pulling;
  const record = await findIntact(layout, reference);
  if (record === undefined || (variant !== undefined && !record.variants.some((one) => hasName(one, variant)))) return undefined;
  for (const { sha256, size } of record.files) if (!(await hasBlob(layout, sha256, size))) return undefined;
  meter.addExisting(getRecordBytes(record));
  const { recordVersion: _version, lastUsed: _used, tree: _tree, tasks: _tasks, pulledAt: _at, ...publication } = record;
  return await publish(publication, pulling);
}

async function pullListed(reference: HubReference, what: string, listing: Listing, pulling: PullSession): Promise<PullReport> {
  const { layout, meter, variant, endpoint, network, cacheFolder } = pulling;
  const { commit, files } = listing;
  const name = recordName(reference);
  const before = await findIntact(layout, reference);
  const descriptions = descriptionFiles(files);
  const fetch = fetcher(reference, what, commit, pulling);
  const described = await fetch(descriptions);
  const shape = await withTemporaryTree(layout, described, (path) => readModelShape({ path, displayName: what }));
  const wanted = selectWeights(what, files, shape, variant);
  const others = (before?.variants ?? []).flatMap((one) => keepPulledVariant(one, what, files, shape, wanted.variant));
  const modules = moduleWeights(what, files, shape);
  const chosen = unique([...descriptions, ...modules, ...wanted.files, ...others.flatMap((one) => one.files)]);
  refuseAmbiguousNames(what, chosen);
  meter.totalBytes = chosen.reduce((sum, { size }) => sum + size, 0);
  await refuseFullDisk(what, reference.repository, chosen, pulling);
  const rest = await fetch(chosen.filter(({ path }) => !described.some((file) => file.path === path)));
  const stored = [...described, ...rest];
  const external = await fetch(await externalFiles(what, stored, files, pulling));
  const variants = [...others.map((one) => one.variant), wanted.variant].filter((one) => one !== undefined);
  const revision = name === reference.repository ? {} : { revision: reference.revision };
  return await publish(
    {
      name,
      reference: what,
      source: network === undefined ? cacheFolder : endpoint,
      repository: reference.repository,
      ...revision,
      commit,
      variants: variants.map((one) => withExternal(one, external)),
      files: [...stored, ...external].sort((a, b) => (a.path < b.path ? -1 : 1)),
    },
    pulling,
  );
}

/** A function that obtains files of the commit, several concurrently. */
function fetcher(
  { repository }: HubReference,
  what: string,
  commit: string,
  { layout, network, cacheFolder, endpoint, meter, signal }: PullSession,
): (files: readonly HubFile[]) => Promise<StoredFile[]> {
  const cache = { folder: cacheFolder, repository };
  return (files) =>
    mapConcurrently(files, maxConcurrentFiles, signal, (file, signal) => {
      const path = file.path.split("/").map(encodeURIComponent).join("/");
      const url = `${endpoint}/${repository}/resolve/${commit}/${path}`;
      return obtainFile({ ...file, url, what: `${file.path} of ${what}` }, { layout, network, cache, meter, signal });
    });
}

/** Reads from the describing files where the weights are. An unsupported module is refused here, before any weights are fetched. */
async function readModelShape(folder: Folder): Promise<ModelShape> {
  const modules = await readModules(folder);
  const modelPath = modules?.modelPath ?? "";
  const inner: Folder = { path: join(folder.path, modelPath), displayName: folder.displayName };
  const config = (await readJsonObject(inner, "config.json")) ?? {};
  const moduleWeights = modules === undefined ? [] : vectorModuleWeights(modules);
  return { modelPath, isStatic: modules?.kind === "static" || config["model_type"] === "model2vec", moduleWeights };
}

/** The weights of the modules after pooling, which belong to every variant. Missing ones are an error before anything large is fetched. */
function moduleWeights(what: string, files: readonly HubFile[], shape: ModelShape): HubFile[] {
  return shape.moduleWeights.map((path) => {
    const file = files.find((one) => one.path === path);
    if (file !== undefined) return file;
    throw missingModuleWeights(
      `${what}/${path}`,
      files.some((one) => one.path === `${posix.dirname(path)}/pytorch_model.bin`),
    );
  });
}

interface KeptVariant {
  readonly variant: StoredVariant;
  readonly files: readonly HubFile[];
}

/** A variant that was pulled before, as the commit has it now; empty if the repository no longer has it. */
function keepPulledVariant(
  { name }: StoredVariant,
  what: string,
  files: readonly HubFile[],
  shape: ModelShape,
  wanted: StoredVariant | undefined,
): KeptVariant[] {
  if (wanted === undefined || wanted.name === name) return [];
  try {
    const { variant, files: own } = selectWeights(what, files, shape, name);
    return variant === undefined || variant.name === wanted.name ? [] : [{ variant, files: own }];
  } catch (error) {
    if (error instanceof InferyardError && (error.code === "MODEL_NOT_FOUND" || error.code === "MODEL_UNSUPPORTED")) return [];
    throw error;
  }
}

/** Files with external data that the graphs name and that were not selected by their names. */
async function externalFiles(
  what: string,
  stored: readonly StoredFile[],
  files: readonly HubFile[],
  { layout }: PullSession,
): Promise<HubFile[]> {
  const missing: HubFile[] = [];
  for (const { path, sha256 } of stored.filter((file) => file.path.endsWith(".onnx"))) {
    const { externalFiles: names } = await readOnnxWeights(blobPath(layout, sha256), `${what}/${path}`);
    for (const name of names.keys()) {
      const dataPath = escapesFolder(name) ? undefined : posix.join(posix.dirname(path), name);
      if (stored.some((file) => file.path === dataPath)) continue;
      const file = files.find((one) => one.path === dataPath);
      if (file === undefined) throw incomplete(what, path, name);
      missing.push(file);
    }
  }
  const wanted = unique(missing);
  refuseAmbiguousNames(what, wanted);
  return wanted;
}

function incomplete(what: string, path: string, name: string): InferyardError {
  return new InferyardError(
    "MODEL_INVALID",
    `${path} of ${what} keeps its weights in ${JSON.stringify(name)}, which the repository does not have`,
    {
      remedy: "choose another variant or revision",
    },
  );
}

function withExternal(variant: StoredVariant, external: readonly StoredFile[]): StoredVariant {
  const folders = new Set(variant.files.map((file) => posix.dirname(file)));
  const own = external.map(({ path }) => path).filter((path) => folders.has(posix.dirname(path)));
  return own.length === 0 ? variant : { ...variant, files: [...variant.files, ...own] };
}

/** Throws DISK_FULL before the transfer if the files do not fit on the disk. */
async function refuseFullDisk(
  what: string,
  repository: string,
  files: readonly HubFile[],
  { layout, cacheFolder, network }: PullSession,
): Promise<void> {
  if (network === undefined) return;
  let needed = 0;
  for (const file of files) {
    const sha256 = file.sha256 ?? (await sha256ForGitDigest(layout, file.gitSha1 ?? ""));
    if (sha256 !== undefined && (await hasBlob(layout, sha256, file.size))) continue;
    if ((await cachedBlob(cacheFolder, repository, file)) !== undefined) continue;
    const partial = await statOrUndefined(join(layout.downloads, `${downloadName(file)}.partial`));
    needed += Math.max(0, file.size - (partial?.size ?? 0));
  }
  const free = await freeBytes(layout.root);
  if (needed <= free) return;
  throw new InferyardError(
    "DISK_FULL",
    `there is no room for ${what} in ${layout.root}: it needs ${needed} bytes more, and ${free} are free`,
    {
      remedy: diskFullRemedy,
      data: { neededBytes: needed, freeBytes: free },
    },
  );
}

function unique(files: readonly HubFile[]): HubFile[] {
  return [...new Map(files.map((file) => [file.path, file])).values()];
}
