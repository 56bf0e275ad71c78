/** The last step of a pull: creates the tree of the files and writes the record. */
import { join, relative, sep } from "node:path";
import { omitUndefined } from "../../contract/checked.ts";
import { InferyardError } from "../../contract/errors.ts";
import type { Manifest } from "../manifest.ts";
import { readManifestAt } from "../manifest/read-manifest-at.ts";
import { withLock } from "../../storage/lock.ts";
import { getRecordBytes, readIntactRecord, writeRecord } from "../store/record.ts";
import type { ModelRecord, StoredVariant } from "../store/model-record.ts";
import { hasName } from "../store/locate.ts";
import { shortName } from "../store/lookup.ts";
import { publishTree, treePath } from "../store/trees.ts";
import type { PullReport, PullSession } from "./pull-session.ts";

/** A fetched model that is about to appear in the store; see `ModelRecord` for the fields. */
export type Publication = Omit<ModelRecord, "recordVersion" | "tasks" | "tree" | "pulledAt">;

/**
 * Makes a fetched model visible in the store: checks its files, creates its folder of links and writes its record. Returns the
 * report of the pull. Only one pull publishes at a time, so that two pulls of different variants of a model keep both. Throws
 * MODEL_INVALID if the files are damaged, MODEL_NOT_FOUND if they have no such variant.
 */
export async function publish(publication: Publication, pulling: PullSession): Promise<PullReport> {
  const { layout, meter, signal, started, variant } = pulling;
  return await withLock(
    join(layout.locks, "publish.lock"),
    async () => {
      const merged = await mergedWithStored(publication, pulling);
      const tree = await publishTree(layout, merged.files);
      const folder = treePath(layout, tree);
      const { manifest, unsupported } = await readPulled(merged, folder, pulling);
      const record: ModelRecord = {
        recordVersion: 1,
        ...merged,
        variants: getVariants(merged, manifest, folder, variant),
        tasks: manifest?.tasks ?? [],
        tree,
        pulledAt: new Date().toISOString(),
      };
      await writeRecord(layout, record);
      return {
        reference: record.reference,
        name: record.name,
        ...omitUndefined({ variant }),
        variants: manifest?.variants.map(({ name }) => name) ?? record.variants.map(({ name }) => name),
        tasks: record.tasks,
        ...omitUndefined({ commit: record.commit }),
        files: record.files.length,
        bytes: getRecordBytes(record),
        fetchedBytes: meter.fetched,
        milliseconds: performance.now() - started,
        folder,
        ...omitUndefined({ unsupported }),
      };
    },
    { signal },
  );
}

/** The publication merged with the record, to which another pull may have added a variant of the same commit. */
async function mergedWithStored(publication: Publication, { layout }: PullSession): Promise<Publication> {
  const before = await readIntactRecord(layout, publication.name);
  if (before === undefined || before.commit !== publication.commit || before.repository === undefined) return publication;
  const names = new Set(publication.variants.map(({ name }) => name));
  const paths = new Set(publication.files.map(({ path }) => path));
  return {
    ...publication,
    variants: [...before.variants.filter(({ name }) => !names.has(name)), ...publication.variants],
    files: [...before.files.filter(({ path }) => !paths.has(path)), ...publication.files].sort((a, b) =>
      a.path < b.path ? -1 : 1,
    ),
  };
}

/** Reads the manifest of the pulled files. A damaged model is an error; of a model that this version cannot run, the reason is returned. */
async function readPulled(
  { reference, name, repository, files }: Publication,
  folder: string,
  { layout }: PullSession,
): Promise<{ readonly manifest?: Manifest; readonly unsupported?: string }> {
  const [only] = files;
  const isFile = repository === undefined && only !== undefined;
  const location = {
    path: isFile ? join(folder, only.path) : folder,
    displayName: reference,
    name: shortName({ name, ...omitUndefined({ repository }) }),
  };
  try {
    return { manifest: await readManifestAt(location, !isFile, { dataFolder: layout.root }) };
  } catch (error) {
    if (error instanceof InferyardError && error.code === "MODEL_UNSUPPORTED") return { unsupported: error.message };
    throw error;
  }
}

/**
 * The variants for the record. The manifest, for which the weights were read, may have another name for a variant (`model.safetensors` may be fp16); that
 * becomes an alias. Of a repository that was fetched as a whole, the variants are those of the manifest.
 */
function getVariants(
  { reference, repository, variants }: Publication,
  manifest: Manifest | undefined,
  folder: string,
  wanted: string | undefined,
): StoredVariant[] {
  const read = manifest?.variants.map(({ name, aliases, path }) => ({
    name,
    aliases,
    files: [relative(folder, path).split(sep).join("/")],
  }));
  const named = variants.map(({ name, aliases, files }) => {
    const same = read?.filter((variant) => variant.files.some((file) => files.includes(file))) ?? [];
    const words = new Set([...aliases, ...same.flatMap((variant) => [variant.name, ...variant.aliases])]);
    return { name, aliases: [...words].filter((word) => word !== name), files };
  });
  const all = named.length === 0 && repository !== undefined ? (read ?? []) : named;
  if (wanted === undefined || all.some((variant) => hasName(variant, wanted))) return all;
  throw new InferyardError("MODEL_NOT_FOUND", `${reference} has no variant "${wanted}"`, {
    remedy: `choose one of ${all.map(({ name }) => name).join(", ")}`,
  });
}
